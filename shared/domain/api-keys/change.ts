import { type FieldErrors, problem } from '../../common/errors.ts';
import { isUnusable, throwAny, type Usable } from '../../common/faults.ts';
import * as db from '../../db/api-keys/api-keys.ts';
import type { ApiKey, ApiKeyChanges } from '../../schemas/api-keys.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { wakeRelease } from '../sms/balance.ts';
import { announceChange, findForChange, refuseBeyond, setUpSigning, toWire } from './record.ts';
import * as keyUsage from './usage.ts';

/** A field that is left out stays as it is (API decisions §3). */
export async function change(caller: Caller, keyId: string, changes: ApiKeyChanges): Promise<ApiKey> {
  const record = await findForChange(caller, keyId);
  const { settings, signingSecret } = changedSigning(record, changes.signing);
  const changed: db.ApiKeyRecord = {
    ...record,
    ...settings,
    name: changes.name == null ? record.name : changes.name || null,
    apiVersion: changes.apiVersion === undefined ? record.apiVersion : changes.apiVersion,
    strictMode: changes.strictMode ?? record.strictMode,
    dailyParts: changedLimit(record.dailyParts, changes.limits?.dailyParts),
    monthlyParts: changedLimit(record.monthlyParts, changes.limits?.monthlyParts),
  };
  const errors = faultsOf(record, changes);
  throwAny(errors);
  // Any key of the caller's own lineage counts as its own key.
  if (record.lineageId === caller.lineageId) refuseRelief(record, changed);
  await refuseBeyond(caller, changed);
  await db.updateApiKey(caller.workspaceId, changed);
  announceChange(keyId);
  // The new limit may allow batches to resume that the old limit has paused.
  if (changes.limits) wakeRelease(caller.workspaceId);
  return toWire(changed, await keyUsage.find(caller.workspaceId, record.lineageId), { signingSecret });
}

/** Returns the faults for which `change` would refuse a request. Skips fields of the wrong shape. */
export async function faultsOfChange(
  { workspaceId }: Caller,
  keyId: string,
  changes: Usable<ApiKeyChanges>,
): Promise<FieldErrors> {
  const record = await db.findApiKey(workspaceId, 'api_key', keyId);
  return record ? faultsOf(record, changes) : {};
}

function faultsOf(record: db.ApiKeyRecord, changes: Usable<ApiKeyChanges>): FieldErrors {
  const { strictMode, signing } = changes;
  if (isUnusable(changes, 'signing') || isUnusable(changes, 'strictMode')) return {};
  const isSigned = signing === undefined ? record.signingAlgorithm !== null : signing !== null;
  if (isSigned || !(strictMode ?? record.strictMode)) return {};
  return strictMode
    ? { strictMode: ['needs signing'] }
    : { signing: ['cannot be cleared while strictMode is on'] };
}

function changedSigning(record: db.ApiKeyRecord, signing: ApiKeyChanges['signing']) {
  const isAsBefore =
    signing === undefined ||
    (signing?.algorithm === 'hmac_sha256' && record.signingAlgorithm === 'hmac_sha256');
  return isAsBefore ? { settings: {}, signingSecret: null } : setUpSigning(record.id, signing);
}

function changedLimit(parts: number | null, given: number | null | undefined): number | null {
  return given === undefined ? parts : given || null;
}

/** Refuses to loosen a key's own limits: they protect against a stolen key, so a key must not remove them itself. */
function refuseRelief(record: db.ApiKeyRecord, changed: db.ApiKeyRecord): void {
  if (record.strictMode && !changed.strictMode)
    throw problem('forbidden', { detail: 'A key cannot switch its own strictMode off.' });
  for (const limit of ['dailyParts', 'monthlyParts'] as const)
    if ((changed[limit] ?? Infinity) > (record[limit] ?? Infinity))
      throw problem('forbidden', { detail: `A key cannot raise its own limit ${limit}.` });
}
