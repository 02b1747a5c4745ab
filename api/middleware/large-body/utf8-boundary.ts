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
  if (cut === 0 || last < cut - 6 || last < 0) return cut;
  let first = last;
  while (first > 0 && bytes[first - 1] === 0x5c) first -= 1;
  const isEscape = (last - first) % 2 === 0;
  if (!isEscape) return cut;
  const escapeLength = bytes[last + 1] === 0x75 ? 6 : 2;
  return last + escapeLength > cut ? last : cut;
}
