/** Returns the bytes of a text in canonical base64 (RFC 4648 §3.5, §4), and null for any other text. */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  // Node also takes url-safe letters, unknown characters and missing padding. Only canonical text encodes back to
  // itself.
  return bytes.toString('base64') === text ? bytes : null;
}

export class NotBase64 extends Error {}

/**
 * Decodes base64 that comes piece by piece, as bytes: a string of all of it would be a burden to the garbage collector.
 * Throws NotBase64. A piece is valid only until the next one, which overwrites it.
 */
export async function* decodeBase64Pieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let out = Buffer.alloc(0);
  // The last group of four letters: it may not be complete yet, and only the very last one may have padding.
  let last = '';
  for await (const piece of pieces) {
    const text = last + piece.toString('latin1');
    const groups = text.slice(0, Math.max(0, 4 * Math.ceil(text.length / 4) - 4));
    last = text.slice(groups.length);
    if (out.length < groups.length) out = Buffer.allocUnsafe(groups.length);
    const length = out.write(groups, 'base64');
    // Node passes over unknown characters and padding, so the bytes are fewer then; and it takes url-safe letters too.
    if (length < (groups.length / 4) * 3 || groups.includes('-') || groups.includes('_'))
      throw new NotBase64();
    if (length > 0) yield out.subarray(0, length);
  }
  const bytes = decodeBase64(last);
  if (!bytes) throw new NotBase64();
  if (bytes.length > 0) yield bytes;
}

const alphabet = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const lineBytes = 57;

/** Returns the length of the output of `encodeLines` for this number of bytes. */
export function encodedSize(byteLength: number): number {
  return Math.ceil(byteLength / 3) * 4 + Math.ceil(byteLength / lineBytes) * 2;
}

/** Base64 as it travels in a body (RFC 2045 §6.8): lines of 76 characters, each of which ends in CRLF. */
export function encodeLines(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(encodedSize(bytes.length));
  let length = 0;
  for (let start = 0; start < bytes.length; start += lineBytes) {
    length = encodeLine(bytes, start, Math.min(start + lineBytes, bytes.length), out, length);
    out[length] = 0x0d;
    out[length + 1] = 0x0a;
    length += 2;
  }
  return out;
}

function encodeLine(bytes: Buffer, start: number, end: number, out: Buffer, outStart: number): number {
  let length = outStart;
  let at = start;
  for (; at + 3 <= end; at += 3) {
    const bits = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    out[length] = alphabet[bits >> 18]!;
    out[length + 1] = alphabet[(bits >> 12) & 63]!;
    out[length + 2] = alphabet[(bits >> 6) & 63]!;
    out[length + 3] = alphabet[bits & 63]!;
    length += 4;
  }
  return at === end ? length : length + out.write(bytes.toString('base64', at, end), length, 'latin1');
}
