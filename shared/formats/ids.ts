import { randomFillSync } from 'node:crypto';

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

/** The 16 bytes that a BINARY(16) column holds. Throws where the end is not the base32 of 16 bytes. */
export function idToBytes(id: string): Buffer {
  return decodeBase32(id.slice(id.lastIndexOf('_') + 1));
}

export function idFromBytes(prefix: IdPrefix, bytes: Uint8Array): string {
  return `${prefix}_${encodeBase32(bytes)}`;
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const length = 26;

// Two characters hold ten bits, so five bytes are four pairs of characters.
const pairs = Array.from({ length: 1024 }, (_, bits) => alphabet[bits >> 5]! + alphabet[bits & 31]!);

const noValue = -1;
const values = new Int8Array(128).fill(noValue);
for (const [value, character] of [...alphabet].entries()) values[character.charCodeAt(0)] = value;

/**
 * Writes the 16 bytes of a UUID in Crockford's base32 as the TypeID specification does: 26 characters, the first two for
 * the first byte.
 */
function encodeBase32(bytes: Uint8Array): string {
  let text = pairs[bytes[0]!]!;
  for (let at = 1; at < 16; at += 5) {
    const [b, c, d] = [bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!];
    text += pairs[(bytes[at]! << 2) | (b >> 6)]! + pairs[((b & 0x3f) << 4) | (c >> 4)]!;
    text += pairs[((c & 0x0f) << 6) | (d >> 2)]! + pairs[((d & 0x03) << 8) | bytes[at + 4]!]!;
  }
  return text;
}

/** Throws on any text that `encodeBase32` does not write. */
function decodeBase32(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  const first = bitsOf(text, 0);
  // A character without a value makes this negative.
  let all = text.length === length && first < 256 ? first : noValue;
  bytes[0] = first;
  for (let at = 1, from = 2; at < 16; at += 5, from += 8) {
    const [a, b] = [bitsOf(text, from), bitsOf(text, from + 2)];
    const [c, d] = [bitsOf(text, from + 4), bitsOf(text, from + 6)];
    all |= a | b | c | d;
    bytes[at] = a >> 2;
    bytes[at + 1] = (a << 6) | (b >> 4);
    bytes[at + 2] = (b << 4) | (c >> 6);
    bytes[at + 3] = (c << 2) | (d >> 8);
    bytes[at + 4] = d;
  }
  if (all < 0) throw new Error(`${text} is not the base32 of 16 bytes`);
  return bytes;
}

function bitsOf(text: string, at: number): number {
  const high = values[text.charCodeAt(at)] ?? noValue;
  return (high << 5) | (values[text.charCodeAt(at + 1)] ?? noValue);
}
