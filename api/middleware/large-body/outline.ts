import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { notUtf8 } from '../json-body.ts';
import { type LeftOut, type Path, startScan } from '../json-scan.ts';
import type { LargeBody } from './spool.ts';
import { cutBeforeSplit, cutPieces } from './utf8-boundary.ts';

/** JSON text in which each string that was left out is replaced by `marker` and its number in `leftOut`. */
export type Outline = { json: string; marker: string; leftOut: LeftOut[] };

/** `largeTexts`: the places where every string is left out; elsewhere only some long ones are. */
export type Places = {
  largeTexts: readonly Path[];
  freeForm: readonly Path[];
  bodyLimitValues: number;
};

/** Reads a body without holding the strings that are left out. Also refuses a body that is not UTF-8. */
export async function outlineOf(body: Pick<LargeBody, 'read'>, places: Places): Promise<Outline> {
  const marker = `${randomUUID()}:`;
  const { largeTexts, freeForm, bodyLimitValues: most } = places;
  const scan = startScan({ largeTexts, freeForm, most, marker });
  let at = 0;
  for await (const bytes of cutPieces(body.read(), cutBeforeSplit, notUtf8)) {
    if (!isUtf8(bytes)) throw notUtf8();
    scan.take(bytes, at);
    at += bytes.length;
  }
  return { json: scan.text(), marker, leftOut: scan.leftOut };
}
