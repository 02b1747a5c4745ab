import { hash } from 'node:crypto';
import { isTooLong, tooLong } from '../formats/templates/liquid-limits.ts';
import { isLiquid } from '../formats/templates/liquid-tokens.ts';
import { largestData, tooLarge } from './data.ts';
import type { Pool } from './pool.ts';
import { crossing, type PartFault } from './protocol.ts';
import type { RenderError, RenderResult } from './results.ts';

type SandboxRow = {
  source: string;
  /** JSON text of an object. */
  data: string;
};
export type RowsRequest<Done> = {
  workspaceId: string;
  rows: readonly SandboxRow[];
  /** JSON text of an object with the data of all rows. A row's own members override these. */
  shared: string;
  now: Date;
  /** Values are escaped for HTML, except after `| raw`. */
  escape: boolean;
  /** After this time no further rows are sent to a thread; the remaining rows are `busy`. */
  withinMs: number;
  /**
   * Makes the result of a row from its output of up to a megabyte. It is called as soon as the output is there, so that
   * the outputs of all rows are not kept, and other work has turns between the calls.
   */
  resultOf: (output: string, index: number) => Done;
};
type RowFailure = Extract<RenderResult, { ok: false }>;
export type RowResult<Done> = { ok: true; result: Done } | RowFailure;

/**
 * Renders rows in as few messages to a thread as their time allows. The messages follow one another, so that other
 * workspaces have turns in between.
 */
export async function renderRows<Done>(
  run: Pool['run'],
  request: RowsRequest<Done>,
): Promise<RowResult<Done>[]> {
  const { workspaceId, rows, shared, now, escape, withinMs, resultOf } = request;
  const doneOf = (output: string, index: number) => ({ ok: true as const, result: resultOf(output, index) });
  const results = rows.map(
    (row, index): RowResult<Done> | undefined =>
      unfit(row, shared) ?? (isLiquid(row.source) ? undefined : doneOf(row.source, index)),
  );
  const endAt = performance.now() + withinMs;
  let waiting = [...results.keys()].filter((index) => !results[index]);

  while (waiting.length > 0) {
    const indexes = oneCrossing(rows, waiting);
    const crossed = indexes.map((index) => rows[index]!);
    const sources = [...new Set(crossed.map(({ source }) => source))];
    const places = new Map(sources.map((source, place) => [source, place]));
    const outcome = await run({
      workspaceId,
      source: hash('sha1', sources.join('\0')),
      message: {
        kind: 'rows',
        sources: sources.map((source) => ({ source, escape })),
        shared,
        rows: crossed.map(({ source, data }) => ({ source: places.get(source)!, data })),
        now: now.getTime(),
      },
      length: lengthOf(sources) + lengthOf(crossed.map(({ data }) => data)) + shared.length,
    });
    if (outcome.outcome === 'busy') break;
    if (outcome.outcome === 'done')
      for (const [place, output] of outcome.outputs.entries())
        results[indexes[place]!] = doneOf(output, indexes[place]!);
    for (const { part, ...fault } of outcome.faults ?? []) {
      const failed = indexes[part]!;
      const failure: RowFailure = { ok: false, errors: [toError(fault)] };
      results[failed] = failure;
      // A source that cannot be parsed fails for its other rows too.
      if (fault.parsing)
        for (const index of waiting)
          if (rows[index]!.source === rows[failed]!.source) results[index] = failure;
    }
    waiting = waiting.filter((index) => !results[index]);
    if (performance.now() > endAt) break;
  }
  return results.map((result) => result ?? { ok: false, busy: true });
}

function unfit({ source, data }: SandboxRow, shared: string): RowFailure | undefined {
  if (isTooLong(source)) return failureOf({ part: 'source', message: tooLong, parsing: true });
  if (isLiquid(source) && shared.length + data.length > largestData.length)
    return failureOf({ part: 'data', message: tooLarge });
  return undefined;
}

/** Returns the first rows that wait, as many as one crossing may have. */
function oneCrossing(rows: readonly SandboxRow[], waiting: readonly number[]): number[] {
  const sources = new Set<string>();
  let length = 0;
  const end = waiting.findIndex((index, place) => {
    const { source, data } = rows[index]!;
    length += data.length + (sources.has(source) ? 0 : source.length);
    sources.add(source);
    return place === crossing.rows || (place > 0 && length > crossing.length);
  });
  return waiting.slice(0, end < 0 ? waiting.length : end);
}

const lengthOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0);

const failureOf = (error: RenderError): RowFailure => ({ ok: false, errors: [error] });

function toError({ inData, ...fault }: Omit<PartFault, 'part'>): RenderError {
  return { part: inData ? 'data' : 'source', ...fault };
}
