/** Reports come before the message that they are about, so no more of a message is ever needed or held. */
const keptBytes = 256 * 1024;
/** A server that returns all of the largest email that goes out stays below this. */
export const largestMailBytes = 64 * 1024 * 1024;

/** Whether the head is sure to be all of the message. */
export function isWhole(head: Buffer): boolean {
  return head.length < keptBytes;
}

/** The head of a message, which is read to its end; null when it is larger than any can be that we take. */
export async function headOf(stream: AsyncIterable<Buffer>): Promise<Buffer | null> {
  const kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    if (size < keptBytes) kept.push(chunk.subarray(0, keptBytes - size));
    size += chunk.length;
  }
  return size > largestMailBytes ? null : Buffer.concat(kept);
}
