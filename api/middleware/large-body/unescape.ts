import { malformed } from '../json-body.ts';

const BACKSLASH = 0x5c;
const U = 0x75;
const single: Record<number, number> = {
  0x22: 0x22,
  0x2f: 0x2f,
  [BACKSLASH]: BACKSLASH,
  0x62: 0x08,
  0x66: 0x0c,
  0x6e: 0x0a,
  0x72: 0x0d,
  0x74: 0x09,
};

/**
 * Decodes the inside of a JSON string to UTF-8, and may overwrite the given bytes. Made for base64: some clients
 * escape each `/` or `+` of it.
 */
export function unescape(inside: Buffer): Buffer {
  let escape = inside.indexOf(BACKSLASH);
  if (escape < 0) return inside;
  let length = escape;
  for (;;) {
    const next = inside[escape + 1];
    const isShort = next !== U;
    const code = isShort ? single[next ?? -1] : hexAt(inside, escape + 2);
    if (code === undefined) throw malformed();
    // Not ASCII, so this is not base64: the slower way is good enough.
    if (code > 0x7f)
      return Buffer.concat([inside.subarray(0, length), Buffer.from(parsedInside(inside.subarray(escape)))]);
    inside[length] = code;
    length += 1;
    const from = escape + (isShort ? 2 : 6);
    escape = inside.indexOf(BACKSLASH, from);
    const end = escape < 0 ? inside.length : escape;
    inside.copyWithin(length, from, end);
    length += end - from;
    if (escape < 0) return inside.subarray(0, length);
  }
}

function hexAt(bytes: Buffer, start: number): number | undefined {
  const digits = bytes.toString('latin1', start, start + 4);
  return /^[\da-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

/** The text that the inside of a JSON string spells. */
export function parsedInside(inside: Buffer): string {
  try {
    return JSON.parse(`"${inside.toString()}"`);
  } catch {
    throw malformed();
  }
}
