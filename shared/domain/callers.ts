import { createPublicKey, createSecretKey } from 'node:crypto';
import { listen } from '../broadcast.ts';
import { now } from '../clock.ts';
import { config } from '../config.ts';
import type { ApiKeyRecord } from '../db/api-keys.ts';
import { findApiKeyByHash } from '../db/system/api-keys.ts';
import type { Caller, Scope, Signing } from '../schemas/scopes.ts';
import { open } from '../secrets.ts';
import { hashKey, isWellFormed } from './api-keys/make-key.ts';
import { topic } from './api-keys/record.ts';

type Entry = { key: ApiKeyRecord | null; caller: Caller | null; readAt: number };

const missCacheMs = 1_000;
const cacheSize = 10_000;
const cache = new Map<string, Entry>();
// Rises with every change: a look-up that began before one may bring back what was true before it.
let changes = 0;

listen(topic, {
  changed: (keyId) => {
    changes += 1;
    for (const [name, { key }] of cache) if (key?.id === keyId) cache.delete(name);
  },
  missed: () => {
    changes += 1;
    cache.clear();
  },
});

/**
 * Who holds this key or token; null when it is unknown, not yet active or expired. The times are checked at
 * use, not when the key is read.
 */
export async function authenticate(token: string): Promise<Caller | null> {
  if (!isWellFormed(token)) return null;
  const hash = hashKey(token);
  const entry = await lookUp(hash);
  if (!entry.key) return null;
  // A key that was to work from the start works as soon as it is there, on whatever process and by whatever clock.
  const isActive = entry.key.activeFrom <= entry.key.createdAt || entry.key.activeFrom <= now();
  if (!isActive || (entry.key.expiresAt && entry.key.expiresAt <= now())) return null;
  return entry.caller;
}

async function lookUp(hash: Buffer): Promise<Entry> {
  // The cache is keyed by the hash: a memory dump holds no usable key.
  const name = hash.toString('base64');
  const known = cache.get(name);
  // While Redis is away nobody says that a key has changed, so none is remembered for long.
  const cacheMs = known?.key ? config.KEY_CACHE_SECONDS * 1000 : missCacheMs;
  if (known && performance.now() - known.readAt < cacheMs) return known;
  const [readAt, changesBefore] = [performance.now(), changes];
  const key = await findApiKeyByHash(hash);
  const entry: Entry = { key, caller: key && toCaller(key), readAt };
  if (changes !== changesBefore) return entry;
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
