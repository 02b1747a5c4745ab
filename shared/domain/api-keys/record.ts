import { orNotFound, problem } from '../../common/errors.ts';
import { open, seal } from '../../common/secrets.ts';
import { announce } from '../../coordination/broadcast.ts';
import * as db from '../../db/api-keys/api-keys.ts';
import { ApiKey, type NewSigning } from '../../schemas/api-keys.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { wireOf } from '../requests/wire.ts';
import { newSigningSecret } from './make-key.ts';
import type { Usage } from './usage.ts';

/** The rules that all operations on API keys share. */

export const topic = 'api_keys';

/** Returns a key as callers see it. Only the answer to the request that issued a key or a secret passes `issued`. */
export function toWire(
  record: db.ApiKeyRecord,
  { usedToday, usedThisMonth }: Usage,
  issued: { key?: string; signingSecret?: string | null } = {},
): ApiKey {
  const { dailyParts, monthlyParts, signingAlgorithm: algorithm, publicKey } = record;
  return wireOf(ApiKey, {
    ...record,
    scopes: record.scopes as ApiKey['scopes'],
    limits: { dailyParts, monthlyParts, usedToday, usedThisMonth },
    signing: algorithm ? { algorithm, publicKey } : undefined,
    lastUsedAt: null,
    key: issued.key ?? null,
    signingSecret: issued.signingSecret ?? null,
  });
}

type Powers = Pick<db.ApiKeyRecord, 'scopes' | 'strictMode'> & { lineageId: string | null };

/**
 * Refuses to let a caller make, change or delete a key that may do more than the caller. A key's limits protect against
 * a thief of the key, so the thief must not escape them through another key. Limits on that other key would not help: a
 * caller can make as many keys as it likes.
 */
export async function refuseBeyond(caller: Caller, { scopes, strictMode, lineageId }: Powers): Promise<void> {
  const beyond = scopes.filter((scope) => !(caller.scopes as ReadonlySet<string>).has(scope));
  if (beyond.length > 0)
    throw problem('forbidden', {
      detail: `The key of this request lacks scopes that the other key has: ${beyond.join(', ')}.`,
    });
  if (caller.strictMode && !strictMode)
    throw problem('forbidden', {
      detail: 'The key of this request is in strict mode, and the other key is not.',
    });
  if (lineageId === caller.lineageId || !scopes.includes('sms.send')) return;
  const own = await db.findApiKey(caller.workspaceId, 'api_key', caller.keyId);
  if (own && (own.dailyParts !== null || own.monthlyParts !== null))
    throw problem('forbidden', {
      detail:
        'The key of this request has limits. The other key has the scope sms.send and does not count against these limits.',
    });
}

/** Refuses to let a caller make a key that outlives the caller's own key (API decisions §3). */
export async function refuseLongerLife(caller: Caller, expiresAt: Date | null): Promise<void> {
  const own = await db.findApiKey(caller.workspaceId, 'api_key', caller.keyId);
  // The caller's key was deleted since the request was admitted.
  if (!own) throw problem('unauthenticated');
  if (own.expiresAt === null || (expiresAt !== null && expiresAt <= own.expiresAt)) return;
  throw problem('forbidden', {
    detail: `The key of this request expires at ${own.expiresAt.toISOString()}, so a key that it creates must not expire later.`,
  });
}

/** Locks and returns a key, for a caller that may change it. */
export async function findForChange(caller: Caller, keyId: string): Promise<db.ApiKeyRecord> {
  const record = orNotFound(await db.findApiKeyForUpdate(caller.workspaceId, 'api_key', keyId));
  await refuseBeyond(caller, record);
  return record;
}

/** Makes every process forget this key. */
export function announceChange(keyId: string): void {
  announce(topic, keyId);
}

type SigningSettings = Pick<
  db.ApiKeyRecord,
  'signingAlgorithm' | 'publicKey' | 'signingSecret' | 'previousSigningSecret' | 'previousSigningSecretUntil'
>;

const noSigning: SigningSettings = {
  signingAlgorithm: null,
  publicKey: null,
  signingSecret: null,
  previousSigningSecret: null,
  previousSigningSecretUntil: null,
};

/** Returns the signing settings that a request sets up from nothing, and the new secret, if they need one. */
export function setUpSigning(
  keyId: string,
  signing: NewSigning | null,
): { settings: SigningSettings; signingSecret: string | null } {
  if (!signing) return { settings: noSigning, signingSecret: null };
  const signingSecret = signing.algorithm === 'hmac_sha256' ? newSigningSecret() : null;
  const settings = {
    ...noSigning,
    signingAlgorithm: signing.algorithm,
    publicKey: signing.publicKey ?? null,
    signingSecret: signingSecret === null ? null : seal(keyId, signingSecret),
  };
  return { settings, signingSecret };
}

/** Seals a secret again for another key: a secret is sealed with the id of the key that it belongs to. */
export function reseal(from: string, to: string, secret: Buffer | null): Buffer | null {
  return secret && seal(to, open(from, secret));
}
