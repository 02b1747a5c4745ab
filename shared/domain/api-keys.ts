import { createHash, randomBytes } from 'node:crypto';
import { now } from '../clock.ts';
import * as db from '../db/api-keys.ts';
import { newId } from '../formats/ids.ts';
import { scopes as allScopes, type Scope } from '../schemas/scopes.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixes = { api_key: 'msg_', app: 'app_' } as const;

/**
 * A prefix that scanners of leaked secrets can look for, 34 random base62 characters, and a checksum of the
 * rest in the last six, so that a mistyped key is told without the database (contract §3).
 */
export function newKey(kind: 'api_key' | 'app'): string {
  let random = '';
  while (random.length < 34)
    // 248 is the largest multiple of 62 in a byte: without this the first letters would be likelier.
    for (const byte of randomBytes(64)) if (byte < 248 && random.length < 34) random += alphabet[byte % 62];
  const start = prefixes[kind] + random;
  return start + checksum(start);
}

function checksum(text: string): string {
  let value = createHash('sha256').update(text).digest().readUIntBE(0, 6);
  let digits = '';
  for (let index = 0; index < 6; index += 1) {
    digits += alphabet[value % 62];
    value = Math.floor(value / 62);
  }
  return digits;
}

/** Whether `key` can be a key at all. */
export function isWellFormed(key: string): boolean {
  return /^(msg|app)_[0-9A-Za-z]{40}$/.test(key) && checksum(key.slice(0, 38)) === key.slice(38);
}

export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

export type IssuedKey = { key: string; record: db.ApiKeyRecord };

/** Makes a key; the text of it is not kept and cannot be shown again. */
export async function issue(
  workspaceId: string,
  options: {
    kind?: 'api_key' | 'app';
    name?: string | null;
    scopes?: readonly Scope[];
    expiresAt?: Date | null;
  } = {},
): Promise<IssuedKey> {
  const kind = options.kind ?? 'api_key';
  const key = newKey(kind);
  const time = now();
  const id = newId('key', time);
  const record: db.ApiKeyRecord = {
    id,
    workspaceId,
    lineageId: id,
    kind,
    name: options.name ?? null,
    keyPrefix: key.slice(0, 6),
    keyLast4: key.slice(-4),
    scopes: [...(options.scopes ?? allScopes)],
    apiVersion: null,
    createdAt: time,
    activeFrom: time,
    expiresAt: options.expiresAt ?? null,
    strictMode: false,
    dailyParts: null,
    monthlyParts: null,
    signingAlgorithm: null,
    publicKey: null,
    signingSecret: null,
    previousSigningSecret: null,
    previousSigningSecretUntil: null,
  };
  await db.insertApiKey(workspaceId, record, hashKey(key));
  return { key, record };
}

export const list = db.listApiKeys;
export const remove = db.deleteApiKey;
