import { fromNow, now } from '../../common/clock.ts';
import { problem } from '../../common/errors.ts';
import { open, seal } from '../../common/secrets.ts';
import * as db from '../../db/api-keys/api-keys.ts';
import { newId } from '../../formats/ids.ts';
import type { ApiKey, KeyRotation } from '../../schemas/api-keys.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { refuseOneTooMany, store } from './create.ts';
import { newKey, newSigningSecret } from './make-key.ts';
import { announceChange, findForChange, refuseLongerLife, reseal, toWire } from './record.ts';
import * as keyUsage from './usage.ts';

const hourMs = 3_600_000;
const defaultOverlapHours = 24;
const oldSecretMs = 24 * hourMs;

/** Makes a new key in place of this one, which stays valid for the overlap. Both keys are of one lineage. */
export async function rotate(caller: Caller, keyId: string, request: KeyRotation): Promise<ApiKey> {
  const { workspaceId } = caller;
  await refuseOneTooMany(workspaceId);
  const old = await findForChange(caller, keyId);
  await refuseUnlessCurrent(old);
  const expiresAt = ownExpiry(old);
  await refuseLongerLife(caller, expiresAt);

  // The new key must be later than the old one, even if another clock dated the old one.
  const time = new Date(Math.max(now().getTime(), old.createdAt.getTime() + 1));
  const key = newKey('api_key');
  const id = newId('key', time);
  const keepsPrevious = old.previousSigningSecretUntil !== null && old.previousSigningSecretUntil > time;
  const record: db.ApiKeyRecord = {
    ...old,
    // A key with an expiry does not become a key that never expires.
    expiresAt,
    rotatedAt: null,
    ownExpiresAt: null,
    id,
    keyPrefix: key.slice(0, 6),
    keyLast4: key.slice(-4),
    createdAt: time,
    activeFrom: old.activeFrom > time ? old.activeFrom : time,
    signingSecret: reseal(old.id, id, old.signingSecret),
    previousSigningSecret: keepsPrevious ? reseal(old.id, id, old.previousSigningSecret) : null,
    previousSigningSecretUntil: keepsPrevious ? old.previousSigningSecretUntil : null,
  };
  await store(record, key);

  const end = new Date(time.getTime() + (request.overlapHours ?? defaultOverlapHours) * hourMs);
  await db.updateApiKey(workspaceId, {
    ...old,
    expiresAt: old.expiresAt && old.expiresAt < end ? old.expiresAt : end,
    rotatedAt: time,
    ownExpiresAt: expiresAt,
  });
  announceChange(old.id);
  const signingSecret = record.signingSecret && open(id, record.signingSecret);
  return toWire(record, await keyUsage.find(workspaceId, old.lineageId), { key, signingSecret });
}

/** Returns the expiry that the key was given: the end of an overlap must not be passed on. */
function ownExpiry({ rotatedAt, expiresAt, ownExpiresAt }: db.ApiKeyRecord): Date | null {
  return rotatedAt ? ownExpiresAt : expiresAt;
}

/** Refuses a key that has expired, or was rotated already, unless the key from that rotation is gone. */
async function refuseUnlessCurrent(key: db.ApiKeyRecord): Promise<void> {
  const newest = await db.findNewestOfLineage(key.workspaceId, key.lineageId);
  if (newest !== key.id)
    throw problem('not_rotatable', {
      detail: `The key was already rotated. The newest key of this rotation is ${newest}.`,
    });
  if (key.expiresAt && key.expiresAt <= now())
    throw problem('not_rotatable', { detail: 'The key has expired.' });
}

/** Makes a new secret for hmac_sha256; the old one stays valid for a day (API decisions §3). */
export async function rotateSigningSecret(caller: Caller, keyId: string): Promise<ApiKey> {
  const record = await findForChange(caller, keyId);
  if (record.signingAlgorithm !== 'hmac_sha256')
    throw problem('not_rotatable', {
      detail: 'The key does not sign with hmac_sha256, so it has no signing secret.',
    });
  const signingSecret = newSigningSecret();
  const changed: db.ApiKeyRecord = {
    ...record,
    signingSecret: seal(record.id, signingSecret),
    previousSigningSecret: record.signingSecret,
    previousSigningSecretUntil: fromNow(oldSecretMs),
  };
  await db.updateApiKey(caller.workspaceId, changed);
  announceChange(keyId);
  return toWire(changed, await keyUsage.find(caller.workspaceId, record.lineageId), { signingSecret });
}
