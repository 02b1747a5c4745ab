/**
 * A message contains the report first, and then a copy of the email that it reports on. So the head is enough, and only
 * this much of a message is kept in memory.
 */
const keptBytes = 256 * 1024;
/** The largest message that we accept. A report that contains a whole copy of our largest outgoing email is smaller. */
export const largestMailBytes = 64 * 1024 * 1024;

/** Returns whether the head is certainly the whole message. */
export function isWhole(head: Buffer): boolean {
  return head.length < keptBytes;
}

/** Reads a message to its end and returns its head; null when the message is larger than we accept. */
export async function headOf(stream: AsyncIterable<Buffer>): Promise<Buffer | null> {
  const kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    if (size < keptBytes) kept.push(chunk.subarray(0, keptBytes - size));
    size += chunk.length;
  }
  return size > largestMailBytes ? null : Buffer.concat(kept);
}
