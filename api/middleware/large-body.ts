import { LargeText } from '../../shared/schemas/large-text.ts';
import { malformed, parseJson } from './json-body.ts';
import { cutInString } from './large-body/cut.ts';
import { outlineOf, type Path } from './large-body/outline.ts';
import type { LargeBody } from './large-body/spool.ts';
import { unescape } from './large-body/unescape.ts';

export { type Reservation, reserve, takenBytes } from './large-body/budget.ts';
export { hashOf } from './large-body/hash.ts';
export type { Path } from './large-body/outline.ts';
export { type LargeBody, type Spool, startSpool } from './large-body/spool.ts';
export { inTurn } from './large-body/turn.ts';

/** The JSON object that the body spells, in which every string at one of `paths` is a LargeText. */
export async function parseLargeBody(body: LargeBody, paths: readonly Path[]): Promise<unknown> {
  const { json, marker, texts } = await outlineOf(body, paths);
  const value = parseJson(json);
  const textOf = (found: unknown): unknown => {
    // Nobody else knows this body's marker.
    if (typeof found !== 'string' || !found.startsWith(marker)) return found;
    const { start, end } = texts[Number(found.slice(marker.length))]!;
    return new LargeText(() => textBetween(body, start, end));
  };
  for (const path of paths) replaceAt(value, path, textOf);
  return value;
}

function replaceAt(value: unknown, [name, ...rest]: Path, replace: (found: unknown) => unknown): void {
  if (value === null || typeof value !== 'object' || name === undefined) return;
  const holder = value as Record<string, unknown>;
  const names = name !== '*' ? (Object.hasOwn(holder, name) ? [name] : []) : Object.keys(holder);
  for (const each of names)
    if (rest.length === 0) holder[each] = replace(holder[each]);
    else replaceAt(holder[each], rest, replace);
}

/** The text, in UTF-8, of the JSON string whose inside lies there. */
async function* textBetween(body: LargeBody, start: number, end: number): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of body.read(start, end)) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    const cut = cutInString(bytes);
    rest = Buffer.from(bytes.subarray(cut));
    yield unescape(bytes.subarray(0, cut));
  }
  if (rest.length > 0) throw malformed();
}
