import { randomFillSync } from 'node:crypto';

const random = Buffer.alloc(8 * 512);
let used = random.length;
let counter = 0;

/** Returns an id that rises with time, so that new rows go to the end of the index. */
export function risingId(): Buffer {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const id = Buffer.allocUnsafe(16);
  id.writeUIntBE(Date.now(), 0, 6);
  counter = (counter + 1) & 0xffff;
  id.writeUInt16BE(counter, 6);
  random.copy(id, 8, used, used + 8);
  used += 8;
  return id;
}
