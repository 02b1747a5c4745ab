import { randomFillSync } from 'node:crypto';
import { fromUUIDBytes, type TypeId, toUUIDBytes } from 'typeid-js';

/** Every resource's prefix: an id is `{prefix}_` and a UUIDv7 in base32 (TypeID). */
export const idPrefixes = [
  'workspace',
  'key',
  'webhook',
  'event',
  'delivery',
  'suppression',
  'sender',
  'contact',
  'list',
  'template',
  'etemplate',
  'include',
  'domain',
  'testrecipient',
  'email',
  'sms',
  'batch',
  'link',
  'phone',
  'profile',
  'conversation',
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

// Random bytes are drawn many at a time: a system call for each id would cost more than the id.
const pool = Buffer.alloc(8 * 512);
let poolOffset = pool.length;
let lastMs = 0;
let counter = 0;
/**
 * The most milliseconds that an id may be ahead of the clock after the clock steps back. A clock that steps back by
 * more was wrong before: ids further ahead would be listed and kept as if they were new.
 */
export const aheadMs = 500;

/** A UUIDv7 (RFC 9562) for this time. The ids of one process rise, even within a millisecond. */
export function newUuid(at: Date): Buffer {
  let ms = at.getTime();
  if (ms > lastMs || ms < lastMs - aheadMs) {
    lastMs = ms;
    counter = 0;
  } else {
    // 4,096 a millisecond; past that, or when the clock stands still, the next millisecond is borrowed.
    counter += 1;
    if (counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
    ms = lastMs;
  }
  if (poolOffset === pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  pool.copy(bytes, 8, poolOffset, poolOffset + 8);
  poolOffset += 8;
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return bytes;
}

/** A new id. Ids made by one process rise, so rows append to their index and list in order of creation. */
export function newId(prefix: IdPrefix, at: Date): string {
  return idFromBytes(prefix, newUuid(at));
}

/** The lowest UUIDv7 of a millisecond: the bound of a range of ids by time. */
export function firstUuidAt(at: Date): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.max(0, at.getTime()), 0, 6);
  return bytes;
}

const suffix = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Whether `value` has the exact form of an id with this prefix. */
export function isId(prefix: IdPrefix, value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length === prefix.length + 27 &&
    value.startsWith(`${prefix}_`) &&
    suffix.test(value.slice(prefix.length + 1))
  );
}

/** When an id was made. */
export function timeOfId(id: string): Date {
  return new Date(idToBytes(id).readUIntBE(0, 6));
}

/** The 16 bytes that a BINARY(16) column holds. Throws on anything that `isId` refuses. */
export function idToBytes(id: string): Buffer {
  return Buffer.from(toUUIDBytes(id as TypeId<string>));
}

export function idFromBytes(prefix: IdPrefix, bytes: Uint8Array): string {
  return fromUUIDBytes(prefix, bytes);
}
