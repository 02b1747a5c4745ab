import { createPublicKey, createSecretKey } from 'node:crypto';
import { now, nowForAll } from '../clock.ts';
import type { ApiKeyRecord } from '../db/api-keys.ts';
import { findApiKeyByHash } from '../db/system/api-keys.ts';
import type { Caller, Scope, Signing } from '../schemas/scopes.ts';
import { open } from '../secrets.ts';
import { hashKey, isWellFormed } from './api-keys.ts';

type Entry = { key: ApiKeyRecord | null; caller: Caller | null; readAt: number };

// A changed or deleted key works for at most this long on a process that has it cached.
const cacheMs = 10_000;
const missCacheMs = 1_000;
const cacheSize = 10_000;
const cache = new Map<string, Entry>();

/**
 * Who holds this key or token; null when it is unknown, not yet active or expired. The times are checked at
 * use, not when the key is read.
 */
export async function authenticate(token: string): Promise<Caller | null> {
  if (!isWellFormed(token)) return null;
  const hash = hashKey(token);
  const entry = await lookUp(hash);
  if (!entry.key) return null;
  // A key that one process has just issued works at once on another whose clock is a little behind.
  const isActive = entry.key.activeFrom <= nowForAll();
  if (!isActive || (entry.key.expiresAt && entry.key.expiresAt <= now())) return null;
  return entry.caller;
}

async function lookUp(hash: Buffer): Promise<Entry> {
  // The cache is keyed by the hash: a memory dump holds no usable key.
  const name = hash.toString('base64');
  const known = cache.get(name);
  if (known && performance.now() - known.readAt < (known.key ? cacheMs : missCacheMs)) return known;
  const readAt = performance.now();
  const key = await findApiKeyByHash(hash);
  const entry: Entry = { key, caller: key && toCaller(key), readAt };
  if (cache.size >= cacheSize) cache.delete(cache.keys().next().value!);
  cache.set(name, entry);
  return entry;
}

function toCaller(key: ApiKeyRecord): Caller {
  return {
    workspaceId: key.workspaceId,
    keyId: key.id,
    lineageId: key.lineageId,
    kind: key.kind,
    scopes: new Set(key.scopes as Scope[]),
    apiVersion: key.apiVersion,
    strictMode: key.strictMode,
    signing: signingOf(key),
  };
}

// Key objects are made once for each time the key is read: making one costs more than a signature does.
function signingOf(key: ApiKeyRecord): Signing | null {
  if (key.signingAlgorithm === null) return null;
  if (key.publicKey !== null)
    return { algorithm: key.signingAlgorithm, keys: [{ key: createPublicKey(key.publicKey), until: null }] };
  const secret = (sealed: Buffer) => createSecretKey(Buffer.from(open(key.id, sealed), 'utf8'));
  const keys = [{ key: secret(key.signingSecret!), until: null as Date | null }];
  if (key.previousSigningSecret && key.previousSigningSecretUntil)
    keys.push({ key: secret(key.previousSigningSecret), until: key.previousSigningSecretUntil });
  return { algorithm: key.signingAlgorithm, keys };
}
