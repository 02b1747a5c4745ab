/** The outcomes of a render, of one request or of many rows. */

/**
 * `part` is a part's name, or `data`. Line and column count from 1. `parsing`: the source is wrong, whatever the data.
 */
export type RenderError = { part: string; message: string; line?: number; column?: number; parsing?: true };
export type RenderResult =
  | { ok: true; outputs: string[] }
  | { ok: false; errors: RenderError[]; busy?: never }
  /** The workspace has too many renders waiting, or this one waited for 10 s: it may be tried again later. */
  | { ok: false; busy: true; errors?: never };
