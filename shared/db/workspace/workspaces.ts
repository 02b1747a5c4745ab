import { idToBytes } from '../../formats/ids.ts';
import { binaryText, boolean, id, int, text, time, words } from '../client/columns.ts';
import type { Lock } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, execute, query } from '../client.ts';

export const workspaces = table('workspaces', {
  id: id('workspace'),
  name: text(),
  country: text(),
  alertEmail: binaryText().nullable(),
  webhooksEnabled: boolean(),
  sendingBlocked: boolean(),
  /** When the workspace was blocked. Also null if the previous version has blocked it. */
  sendingBlockedAt: time().nullable(),
  /** The most emails that may go out in any minute, hour or day; null: no limit. The rest waits. */
  emailsPerMinute: int().nullable(),
  emailsPerHour: int().nullable(),
  emailsPerDay: int().nullable(),
  /** The answer to a text that says STOP; null: none. */
  stopReply: text().nullable(),
  /** Words that mean STOP and START beside the known ones: in capitals, letters and digits only. */
  stopWords: words().nullableAs(() => []),
  startWords: words().nullableAs(() => []),
  createdAt: time(),
});
const changing = workspaces.omit('id', 'name', 'country', 'createdAt');
export type WorkspaceRecord = RecordOf<typeof workspaces>;

export async function insertWorkspace(
  workspaceId: string,
  record: Omit<WorkspaceRecord, 'id'>,
): Promise<void> {
  await query('INSERT INTO workspaces SET ?', [workspaces.toRow({ ...record, id: workspaceId })]);
}

export function findWorkspace(workspaceId: string): Promise<WorkspaceRecord | null> {
  return find(workspaceId);
}

/** Locks the workspace until the transaction ends: checks that count its records, such as a cap, run one at a time. */
export function findWorkspaceForUpdate(workspaceId: string): Promise<WorkspaceRecord | null> {
  return find(workspaceId, 'FOR UPDATE');
}

async function find(workspaceId: string, lock: Lock = ''): Promise<WorkspaceRecord | null> {
  const sql = `SELECT ${workspaces.columns} FROM workspaces ${byId} WHERE id = ? ${lock}`;
  return workspaces.toFirst(await execute(sql, [idToBytes(workspaceId)]));
}

/** Stores the fields that the operator can change; the row must be locked by `findWorkspaceForUpdate`. */
export async function updateWorkspace(workspaceId: string, record: RecordOf<typeof changing>): Promise<void> {
  await query('UPDATE workspaces SET ?, emails_held_until = NULL WHERE id = ?', [
    changing.toRow(record),
    idToBytes(workspaceId),
  ]);
}
