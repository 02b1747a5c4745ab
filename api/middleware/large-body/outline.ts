import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { notUtf8 } from '../json-body.ts';
import { type LeftOut, type Path, startScan } from '../json-scan.ts';
import type { LargeBody } from './spool.ts';
import { cutBeforeSplit } from './utf8-boundary.ts';

/** JSON text in which each string that was left out is replaced by `marker` and its number in `leftOut`. */
export type Outline = { json: string; marker: string; leftOut: LeftOut[] };

/** `largeTexts`: the places where every string is left out; elsewhere only some long ones are. */
export type Places = {
  largeTexts: readonly Path[];
  freeForm: readonly Path[];
  bodyLimitValues?: number;
};

/** Reads a body without holding the strings that are left out. Also refuses a body that is not UTF-8. */
export async function outlineOf(body: Pick<LargeBody, 'read'>, places: Places): Promise<Outline> {
  const marker = `${randomUUID()}:`;
  const { largeTexts, freeForm, bodyLimitValues: most } = places;
  const scan = startScan({ largeTexts, freeForm, marker, ...(most !== undefined && { most }) });
  let rest: Buffer = Buffer.alloc(0);
  let at = 0;
  for await (const piece of body.read()) {
    // A UTF-8 sequence that is cut in two is scanned together with the next piece.
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    const cut = cutBeforeSplit(bytes);
    const whole = bytes.subarray(0, cut);
    if (!isUtf8(whole)) throw notUtf8();
    scan.take(whole, at);
    at += cut;
    rest = Buffer.from(bytes.subarray(cut));
  }
  if (rest.length > 0) throw notUtf8();
  return { json: scan.text(), marker, leftOut: scan.leftOut };
}
