import { hash, randomBytes } from 'node:crypto';
import type { KeyKind } from '../../db/api-keys/api-keys.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixes: Record<KeyKind, string> = { api_key: 'msg_', app: 'app_' };

/**
 * Makes a key: a prefix that scanners of leaked secrets can look for, 34 random base62 characters, and a checksum of
 * both in the last six, so that a mistyped key is found without the database (API decisions §3).
 */
export function newKey(kind: KeyKind): string {
  let random = '';
  while (random.length < 34)
    // 248 is the largest multiple of 62 in a byte: without this the first letters would be likelier.
    for (const byte of randomBytes(64)) if (byte < 248 && random.length < 34) random += alphabet[byte % 62];
  const start = prefixes[kind] + random;
  return start + checksum(start);
}

function checksum(text: string): string {
  let value = hash('sha256', text, 'buffer').readUIntBE(0, 6);
  let digits = '';
  for (let index = 0; index < 6; index += 1) {
    digits += alphabet[value % 62];
    value = Math.floor(value / 62);
  }
  return digits;
}

/** Returns whether a text has the form and the checksum of a key. */
export function isWellFormed(key: string): boolean {
  return /^(msg|app)_[0-9A-Za-z]{40}$/.test(key) && checksum(key.slice(0, 38)) === key.slice(38);
}

export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** `sig_` and 32 random bytes; the whole string is the HMAC key (API decisions §3). */
export function newSigningSecret(): string {
  return `sig_${randomBytes(32).toString('base64url')}`;
}
