import { LRUCache } from 'lru-cache';
import { now } from '../../common/clock.ts';
import { forgetAtEnd } from '../../common/closing.ts';
import { invalid, orNotFound, problem } from '../../common/errors.ts';
import { transaction } from '../../db/client.ts';
import { insertSystemWorkspace, listWorkspaces } from '../../db/workspace/workspaces.system.ts';
import * as db from '../../db/workspace/workspaces.ts';
import { isCountry } from '../../formats/country.ts';
import { parseMailbox } from '../../formats/email/address.ts';
import { idFromBytes, newId } from '../../formats/ids.ts';
import { releaseSms } from '../../jobs/release-sms.ts';
import { enqueue } from '../../queue/queue.ts';
import { text } from '../../schemas/fields.ts';

/** Workspaces, as the operator makes and changes them and as the platform reads them. */

type NewWorkspace = { name: string; country?: string; alertEmail?: string | null };

const Name = text({ max: 200 });
/** The settings of a new workspace. */
const usual = {
  country: 'GB',
  alertEmail: null,
  webhooksEnabled: true,
  sendingBlocked: false,
  sendingBlockedAt: null,
  emailsPerMinute: null,
  emailsPerHour: null,
  emailsPerDay: null,
  stopReply: null,
  stopWords: [],
  startWords: [],
};

/** `country`: ISO 3166-1 alpha-2, in capitals. */
export async function create(options: NewWorkspace): Promise<db.WorkspaceRecord> {
  const name = Name.safeParse(options.name);
  if (!name.success) throw invalid('name', name.error.issues[0]!.message);
  if (options.country !== undefined && !isCountry(options.country))
    throw invalid('country', 'must be a country code of two capital letters, such as GB');
  if (options.alertEmail != null) checkAddress(options.alertEmail);
  const time = now();
  const record: db.WorkspaceRecord = {
    ...usual,
    id: newId('workspace', time),
    name: name.data,
    country: options.country ?? usual.country,
    alertEmail: options.alertEmail ?? null,
    createdAt: time,
  };
  await db.insertWorkspace(record.id, record);
  return record;
}

/** The platform's own workspace, for mail in its own name: it belongs to no customer, and no key opens it. */
export const systemWorkspaceId = idFromBytes(
  'workspace',
  Buffer.from('00000000000070008000000000000000', 'hex'),
);

/** Makes the system workspace if it does not exist; the operator gives it a sending domain like any other. */
export async function makeSystem(): Promise<void> {
  const own = { id: systemWorkspaceId, name: 'System', webhooksEnabled: false, createdAt: now() };
  await insertSystemWorkspace({ ...usual, ...own });
}

/** sms/opt-out.ts checks the answer to STOP and its words. */
type WorkspaceChanges = Partial<
  Omit<db.WorkspaceRecord, 'id' | 'name' | 'country' | 'sendingBlockedAt' | 'createdAt'>
>;

/** A field that is left out stays. Processes that have cached the workspace see the change within two seconds. */
export async function change(workspaceId: string, changes: WorkspaceChanges): Promise<db.WorkspaceRecord> {
  if (changes.alertEmail != null) checkAddress(changes.alertEmail);
  const changed = await transaction(async () => {
    const workspace = orNotFound(await db.findWorkspaceForUpdate(workspaceId), 'There is no such workspace');
    const changed = { ...workspace, ...changes };
    if (changed.sendingBlocked !== workspace.sendingBlocked)
      changed.sendingBlockedAt = changed.sendingBlocked ? now() : null;
    await db.updateWorkspace(workspaceId, changed);
    // Resume at once the batches that the block has paused.
    if (workspace.sendingBlocked && !changed.sendingBlocked)
      enqueue(releaseSms, { workspaceId }, { lane: 'default', id: `${workspaceId}-${now().getTime()}` });
    return changed;
  });
  cache.delete(workspaceId);
  return changed;
}

const mostAddressBytes = 320;

function checkAddress(address: string): void {
  const parsed = parseMailbox(address, { allowDisplayName: false });
  if (!parsed.ok) throw invalid('alertEmail', parsed.message);
  // It is stored as it was typed, where a domain has more bytes than in punycode.
  if (Buffer.byteLength(address) > mostAddressBytes)
    throw invalid('alertEmail', `must be at most ${mostAddressBytes} bytes long`);
}

export const find = db.findWorkspace;
export const listAll = listWorkspaces;

const cache = new LRUCache<string, { workspace: db.WorkspaceRecord | null }>({ max: 10_000, ttl: 2_000 });
forgetAtEnd(() => cache.clear());

/** Finds a workspace for hot paths: the answer may be two seconds old. */
export async function findRecent(workspaceId: string): Promise<db.WorkspaceRecord | null> {
  const known = cache.get(workspaceId);
  if (known) return known.workspace;
  const start = performance.now();
  const workspace = await db.findWorkspace(workspaceId);
  cache.set(workspaceId, { workspace }, { start });
  return workspace;
}

/** Refuses to send for a workspace whose sending the operator has blocked. */
export async function refuseBlocked(workspaceId: string): Promise<void> {
  const workspace = await findRecent(workspaceId);
  if (workspace?.sendingBlocked) throw problem('sending_blocked');
}
