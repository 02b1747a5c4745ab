import { createPublicKey, createSecretKey } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { now } from '../../common/clock.ts';
import { open } from '../../common/secrets.ts';
import { config } from '../../config/config.ts';
import { listen } from '../../coordination/broadcast.ts';
import * as knownKeys from '../../coordination/known-keys.ts';
import { findApiKeyByHash } from '../../db/api-keys/api-keys.system.ts';
import type { ApiKeyRecord } from '../../db/api-keys/api-keys.ts';
import type { Caller, Scope, Signing } from '../../schemas/scopes.ts';
import { hashKey, isWellFormed } from './make-key.ts';
import { topic } from './record.ts';

/** Authenticates requests: finds the holder of a key, and remembers it in this process. */

type KnownKey = { key: ApiKeyRecord; caller: Caller; readAt: number; notedAt: number };

const missCacheMs = 1_000;
const noteEveryMs = 3_600_000;
const mostRemembered = 10_000;
const known = new LRUCache<string, KnownKey>({ max: mostRemembered });
/** Texts that are no key, in a cache of their own, so that many of them cannot push real keys out. */
const unknown = new LRUCache<string, true>({ max: mostRemembered, ttl: missCacheMs });
// Rises with every change of a key: a look-up that began before a change may return the state before it.
let changes = 0;
/** Look-ups of unknown keys. A client's first requests often come together, and one look-up is enough for all. */
const lookUps = new Map<string, { found: Promise<KnownKey | null>; changes: number }>();

listen(topic, {
  changed: (keyId) => {
    changes += 1;
    for (const [name, { key }] of known) if (key.id === keyId) known.delete(name);
  },
  missed: () => {
    changes += 1;
    known.clear();
  },
});

/**
 * Returns the holder of this key or token; null when it is unknown, not yet active or expired. The times are checked
 * at use, not when the key is read. `mayLookUp` is asked before a database look-up of a key that this process does not
 * know. If it says no, the key is looked up only if some process has known it before.
 */
export async function authenticate(
  token: string,
  mayLookUp: () => Promise<boolean> = async () => true,
): Promise<Caller | null> {
  const found = await lookUp(token, mayLookUp);
  if (!found) return null;
  const { key, caller } = found;
  // A key that is active from its creation works as soon as it exists, in every process and by any clock.
  const isActive = key.activeFrom <= key.createdAt || key.activeFrom <= now();
  return isActive && !(key.expiresAt && key.expiresAt <= now()) ? caller : null;
}

async function lookUp(token: string, mayLookUp: () => Promise<boolean>): Promise<KnownKey | null> {
  const hash = hashKey(token);
  // The cache is keyed by the hash, so that a memory dump holds no usable key.
  const name = hash.toString('base64');
  const before = known.get(name);
  // While Redis is away, no process learns that a key has changed, so no key is remembered for long.
  if (before && performance.now() - before.readAt < config.KEY_CACHE_SECONDS * 1000) return before;
  // Only here, because a known key has passed this check, and the checksum takes longer than finding it.
  if (!isWellFormed(token) || unknown.has(name)) return null;
  // A look-up in progress may have read the key before it was revoked, and no process hears of that while Redis is
  // away. So a key that was known gets a look-up of its own.
  if (before) return read(hash, name, before, mayLookUp);
  const begun = lookUps.get(name);
  if (begun?.changes === changes) return begun.found;
  const found = read(hash, name, undefined, mayLookUp);
  const look = { found, changes };
  lookUps.set(name, look);
  try {
    return await found;
  } finally {
    if (lookUps.get(name) === look) lookUps.delete(name);
  }
}

async function read(
  hash: Buffer,
  name: string,
  before: KnownKey | undefined,
  mayLookUp: () => Promise<boolean>,
): Promise<KnownKey | null> {
  const [readAt, changesBefore] = [performance.now(), changes];
  if (!before && !(await mayLookUp()) && !(await knownKeys.isNoted(hash))) return null;
  const key = await findApiKeyByHash(hash);
  if (!key) {
    known.delete(name);
    unknown.set(name, true, { start: readAt });
    return null;
  }
  const isNoted = before !== undefined && readAt - before.notedAt < noteEveryMs;
  if (!isNoted) knownKeys.note(hash);
  const found = { key, caller: toCaller(key), readAt, notedAt: isNoted ? before.notedAt : readAt };
  if (changes === changesBefore) known.set(name, found);
  return found;
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
