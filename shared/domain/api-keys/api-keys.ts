import { orNotFound, problem } from '../../common/errors.ts';
import { listReplacedApiKeys } from '../../db/api-keys/api-keys.system.ts';
import * as db from '../../db/api-keys/api-keys.ts';
import { transaction } from '../../db/client.ts';
import type { ApiKey } from '../../schemas/api-keys.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { announceChange, refuseBeyond, toWire } from './record.ts';
import * as keyUsage from './usage.ts';

export { change, faultsOfChange } from './change.ts';
export { create, faultsOfNew, type IssuedKey, issue } from './create.ts';
export { hashKey, isWellFormed, newKey } from './make-key.ts';
export { rotate, rotateSigningSecret } from './rotate.ts';

export async function find(caller: Caller, keyId: string): Promise<ApiKey> {
  const record = orNotFound(await db.findApiKey(caller.workspaceId, 'api_key', keyId));
  return toWire(record, await keyUsage.find(caller.workspaceId, record.lineageId));
}

/** Lists keys, newest first, in one page (API decisions §1). Tokens of connected apps (the operator's) are left out. */
export async function list(caller: Caller): Promise<{ data: ApiKey[]; nextCursor: null }> {
  const records = await db.listApiKeys(caller.workspaceId, 'api_key');
  const usageOf = await keyUsage.list(caller.workspaceId);
  return { data: records.map((record) => toWire(record, usageOf(record.lineageId))), nextCursor: null };
}

/** Revokes a key that the caller may change. Any key of the caller's own lineage counts as its own. */
export async function remove(caller: Caller, keyId: string): Promise<void> {
  if (keyId === caller.keyId) throw problem('in_use', { detail: 'A key cannot delete itself.' });
  const record = orNotFound(await db.findApiKey(caller.workspaceId, 'api_key', keyId));
  if (record.lineageId !== caller.lineageId) await refuseBeyond(caller, record);
  if (!(await revoke(caller.workspaceId, 'api_key', keyId))) throw problem('not_found');
}

/** For the operator: every key or token of the workspace, newest first. */
export const listIssued = db.listApiKeys;

/**
 * Deletes keys that have expired by then and were replaced by a rotation: with them, a program that rotates its key each
 * day would come to the cap of the workspace. Returns their number.
 */
export async function deleteReplaced(expiredBy: Date, limit: number): Promise<number> {
  const keys = await listReplacedApiKeys(expiredBy, limit);
  for (const { workspaceId, id } of keys) await revoke(workspaceId, 'api_key', id);
  return keys.length;
}

/** Ends a key or token for good; returns whether there was one. */
export function revoke(workspaceId: string, kind: db.KeyKind, keyId: string): Promise<boolean> {
  return transaction(async () => {
    const record = await db.findApiKey(workspaceId, kind, keyId);
    if (!record) return false;
    const { lineageId } = record;
    await keyUsage.lock(workspaceId, lineageId);
    if (!(await db.deleteApiKey(workspaceId, kind, keyId))) return false;
    if (!(await db.findNewestOfLineage(workspaceId, lineageId))) await keyUsage.close(workspaceId, lineageId);
    announceChange(keyId);
    return true;
  });
}
