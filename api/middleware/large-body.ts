import { jsonFaultIndex, type TextPosition } from '../../shared/formats/json-fault.ts';
import { LargeText } from '../../shared/schemas/large-text.ts';
import { malformed, objectOf, withoutMark } from './json-body.ts';
import { type Outline, outlineOf, type Places } from './large-body/outline.ts';
import type { LargeBody } from './large-body/spool.ts';
import { parsedInside, unescape } from './large-body/unescape.ts';
import { cutInString, cutPieces } from './large-body/utf8-boundary.ts';

export { isLargeOnItsWay, refuseWhileFull, sendBody } from './large-body/answer.ts';
export type { Reservation } from './large-body/budget.ts';
export { fileBudget, memoryBudget } from './large-body/budget.ts';
export { hashOf } from './large-body/hash.ts';
export { type Pace, paced, tooManyLarge, unpaced } from './large-body/pace.ts';
export { type Rate, watchRate } from './large-body/rate.ts';
export { type LargeBody, type Spool, startSpool } from './large-body/spool.ts';

/** No field takes a longer text, counted in UTF-16. The rest of a longer text is read, but thrown away. */
const longestText = 2_100_000;

/** Parses the body to a JSON object, in which every string at one of `largeTexts` is a LargeText. */
export async function parseLargeBody(body: LargeBody, places: Places): Promise<unknown> {
  const outline = await outlineOf(body, places);
  const { marker, leftOut } = outline;
  const value = await parseOutline(body, outline);
  const texts: (string | LargeText)[] = [];
  for (const { start, end, isLarge } of leftOut)
    texts.push(
      isLarge ? new LargeText(() => textBetween(body, start, end)) : await longText(body, start, end),
    );
  // The marker is random for each body, so no client knows it.
  const filled = (found: unknown): unknown =>
    typeof found === 'string' && found.startsWith(marker) ? texts[Number(found.slice(marker.length))] : found;
  if (texts.length > 0) fill(value, filled);
  return value;
}

async function parseOutline(body: LargeBody, outline: Outline): Promise<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(withoutMark(outline.json));
  } catch {
    throw malformed(await faultPlace(body, outline));
  }
  return objectOf(value);
}

/**
 * Returns where the body stops being JSON; null if long blanks were left out of the outline, because their places are
 * not known.
 */
async function faultPlace(body: LargeBody, { json, marker, leftOut }: Outline): Promise<TextPosition | null> {
  const bytesLeftOut = leftOut.reduce(
    (sum, { start, end }, index) => sum + end - start - Buffer.byteLength(`${marker}${index}`),
    0,
  );
  if (Buffer.byteLength(json) + bytesLeftOut !== body.byteLength) return null;
  const text = withoutMark(json);
  const before = text.slice(0, jsonFaultIndex(text));
  // After the last text that was left out before the fault, the outline equals the body.
  const [last = '', number] =
    new RegExp(`${marker}(\\d+)`).exec(before.slice(Math.max(0, before.lastIndexOf(marker)))) ?? [];
  const from = number === undefined ? 0 : leftOut[Number(number)]!.end;
  const rest = before.slice(last === '' ? 0 : before.lastIndexOf(marker) + last.length);
  let place = { line: 1, column: 1 };
  if (from > 0) for await (const piece of body.read(0, from)) place = past(place, piece);
  return past(place, Buffer.from(rest));
}

function past({ line, column }: TextPosition, bytes: Buffer): TextPosition {
  for (const byte of bytes)
    if (byte === 0x0a) [line, column] = [line + 1, 1];
    // The other bytes of a character begin with the bits 10.
    else if ((byte & 0xc0) !== 0x80) column += 1;
  return { line, column };
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

/**
 * Returns the text of the JSON string between these offsets, read piece by piece: in one piece it would block the
 * event loop.
 */
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

/** Yields the same text in UTF-8, piece by piece. */
async function* textBetween(body: LargeBody, start: number, end: number): AsyncGenerator<Buffer> {
  for await (const inside of insides(body, start, end)) yield unescape(inside);
}

/** Yields pieces that split neither a UTF-8 sequence nor an escape. */
function insides(body: LargeBody, start: number, end: number): AsyncGenerator<Buffer> {
  return cutPieces(body.read(start, end), cutInString, malformed);
}
