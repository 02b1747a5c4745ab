import { isEscapedAt } from '../json-scan.ts';

/** Returns where to cut the bytes without splitting a UTF-8 sequence: before one that is incomplete at their end. */
export function cutBeforeSplit(bytes: Buffer): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back]!;
    // 10xxxxxx continues a sequence that began before.
    if ((byte & 0xc0) === 0x80) continue;
    const sequenceLength = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return sequenceLength > back ? length - back : length;
  }
  return length;
}

/** Returns the same for the inside of a JSON string, where an escape must not be split either. */
export function cutInString(bytes: Buffer): number {
  const cut = cutBeforeSplit(bytes);
  const last = bytes.lastIndexOf(0x5c, cut - 1);
  // The longest escape is \u and four digits.
  if (last < Math.max(0, cut - 6) || isEscapedAt(bytes, last)) return cut;
  const escapeLength = bytes[last + 1] === 0x75 ? 6 : 2;
  return last + escapeLength > cut ? last : cut;
}

/** Yields the bytes in pieces that end where `cutOf` says; the rest of each comes with the next piece. */
export async function* cutPieces(
  pieces: AsyncIterable<Buffer>,
  cutOf: (bytes: Buffer) => number,
  fault: () => Error,
): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    const cut = cutOf(bytes);
    // Copied, because the next piece overwrites this one.
    rest = Buffer.from(bytes.subarray(cut));
    yield bytes.subarray(0, cut);
  }
  if (rest.length > 0) throw fault();
}
