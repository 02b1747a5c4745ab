/** Returns the bytes of a text in canonical base64 (RFC 4648 §3.5, §4), and null for any other text. */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  // Node also takes url-safe letters, unknown characters and missing padding. Only canonical text encodes back to
  // itself.
  return bytes.toString('base64') === text ? bytes : null;
}

export class NotBase64 extends Error {}

const alphabet = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PAD = 0x3d;
const valueOf = new Int8Array(256).fill(-1);
for (const [value, letter] of alphabet.entries()) valueOf[letter] = value;

/**
 * Decodes base64 that comes piece by piece, as bytes: strings of this size would be a burden to the garbage
 * collector. Throws NotBase64. A piece is valid only until the next one, which may overwrite it.
 */
export async function* decodeBase64Pieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = startDecoder();
  let out = Buffer.alloc(0);
  for await (const piece of pieces) {
    const mostBytes = Math.ceil((piece.length + 3) / 4) * 3;
    if (out.length < mostBytes) out = Buffer.allocUnsafe(mostBytes);
    const length = decoder.decode(piece, out);
    if (length > 0) yield out.subarray(0, length);
  }
  const last = decoder.finish();
  if (last.length > 0) yield last;
}

function startDecoder() {
  // The group of four letters that is not complete yet, and its padding.
  let letters = 0;
  let bits = 0;
  let padding = 0;

  function decode(text: Buffer, out: Buffer): number {
    let length = 0;
    let at = 0;
    while (at < text.length) {
      if (letters === 0 && padding === 0) {
        const groups = decodeGroups(text, at, out, length);
        at += groups * 4;
        length += groups * 3;
        if (at === text.length) break;
      }
      takeLetter(text[at]!);
      at += 1;
      if (letters < 4) continue;
      length = out.writeUIntBE(bits, length, 3);
      letters = 0;
      bits = 0;
    }
    return length;
  }

  function takeLetter(letter: number): void {
    const value = valueOf[letter]!;
    if (value >= 0 && padding === 0) {
      bits = (bits << 6) | value;
      letters += 1;
    } else {
      padding += 1;
      if (letter !== PAD || letters < 2 || letters + padding > 4) throw new NotBase64();
    }
  }

  function finish(): Buffer {
    if (letters === 0) return Buffer.alloc(0);
    // The surplus bits of the last letter must be zero.
    const unused = padding * 2;
    if (letters + padding !== 4 || (bits & ((1 << unused) - 1)) !== 0) throw new NotBase64();
    const last = bits >> unused;
    return letters === 3 ? Buffer.of(last >> 8, last & 0xff) : Buffer.of(last);
  }
  return { decode, finish };
}

/**
 * Decodes whole groups of four letters, up to the first group that is incomplete or has another character. Returns
 * the number of groups.
 */
function decodeGroups(text: Buffer, start: number, out: Buffer, outStart: number): number {
  let at = start;
  let length = outStart;
  for (; at + 4 <= text.length; at += 4) {
    const bits =
      (valueOf[text[at]!]! << 18) |
      (valueOf[text[at + 1]!]! << 12) |
      (valueOf[text[at + 2]!]! << 6) |
      valueOf[text[at + 3]!]!;
    // `valueOf` is negative for a byte that is no base64 letter, so `bits` is negative too.
    if (bits < 0) break;
    out[length] = bits >> 16;
    out[length + 1] = bits >> 8;
    out[length + 2] = bits;
    length += 3;
  }
  return (at - start) / 4;
}

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
