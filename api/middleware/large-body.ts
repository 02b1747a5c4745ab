import { LargeText } from '../../shared/schemas/large-text.ts';
import { malformed, parseJson } from './json-body.ts';
import { cutInString } from './large-body/cut.ts';
import { outlineOf, type Places } from './large-body/outline.ts';
import type { LargeBody } from './large-body/spool.ts';
import { parsedInside, unescape } from './large-body/unescape.ts';

export type { Reservation } from './large-body/budget.ts';
export { hashOf } from './large-body/hash.ts';
export { type Pace, paced, unpaced } from './large-body/pace.ts';
export { type Rate, watchRate } from './large-body/rate.ts';
export { fileRoom, memoryRoom } from './large-body/rooms.ts';
export { type LargeBody, type Spool, startSpool } from './large-body/spool.ts';

/** No field takes a longer text, counted in UTF-16; what comes after that is read, but is of no use to anybody. */
const longestText = 2_100_000;

/** The JSON object that the body spells, in which every string at one of `largeTexts` is a LargeText. */
export async function parseLargeBody(body: LargeBody, places: Places): Promise<unknown> {
  const { json, marker, leftOut } = await outlineOf(body, places);
  // The places of what is left of it are not those of the body.
  const value = parseJson(json, leftOut.length > 0 ? null : undefined);
  const texts: (string | LargeText)[] = [];
  for (const { start, end, isLarge } of leftOut)
    texts.push(
      isLarge ? new LargeText(() => textBetween(body, start, end)) : await longText(body, start, end),
    );
  // Nobody else knows this body's marker.
  const filled = (found: unknown): unknown =>
    typeof found === 'string' && found.startsWith(marker) ? texts[Number(found.slice(marker.length))] : found;
  if (texts.length > 0) fill(value, filled);
  return value;
}

function fill(value: unknown, filled: (found: unknown) => unknown): void {
  if (value === null || typeof value !== 'object') return;
  const holder = value as Record<string, unknown>;
  for (const name of Object.keys(holder)) {
    const found = filled(holder[name]);
    if (found === holder[name]) fill(found, filled);
    else Object.defineProperty(holder, name, { value: found });
  }
}

/** The text of the JSON string whose inside lies there, piece by piece: in one it would hold up everybody else. */
async function longText(body: LargeBody, start: number, end: number): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const inside of insides(body, start, end)) {
    const part = parsedInside(inside);
    if (length < longestText) parts.push(part);
    length += part.length;
  }
  return parts.join('');
}

/** The same in UTF-8. */
async function* textBetween(body: LargeBody, start: number, end: number): AsyncGenerator<Buffer> {
  for await (const inside of insides(body, start, end)) yield unescape(inside);
}

/** Cut where neither a sequence of UTF-8 nor an escape is. */
async function* insides(body: LargeBody, start: number, end: number): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of body.read(start, end)) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    const cut = cutInString(bytes);
    rest = Buffer.from(bytes.subarray(cut));
    yield bytes.subarray(0, cut);
  }
  if (rest.length > 0) throw malformed();
}
