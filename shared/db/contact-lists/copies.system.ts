import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, execute, query, type Row } from '../client.ts';
import { findHeldForUpdate } from '../work/due.system.ts';
import type { DueTable, Lease } from '../work/table.system.ts';
import type { CopyRequest } from './copies.ts';

export type Copy = {
  id: string;
  workspaceId: string;
  listId: string;
  request: CopyRequest;
  /** Which of the sources is being read, and which contact of it came last. */
  sourceIndex: number;
  afterContactId: string | null;
  added: number;
  skipped: number;
  createdAt: Date;
};
export const copyTable: DueTable = {
  name: 'contact_list_copies',
  key: { column: 'id', prefix: null },
  due: 'due_at',
  isLeased: true,
  hasRequest: true,
};

/** Locked until the transaction ends; null when it is over, or no longer this worker's. */
export async function findClaimedForUpdate(lease: Lease): Promise<Copy | null> {
  const row = await findHeldForUpdate(copyTable, lease);
  return row ? toCopy(row) : null;
}

type CopyStep = Pick<Copy, 'sourceIndex' | 'afterContactId' | 'added' | 'skipped'>;

/** Where the copy has come to; the lease is longer by that. */
export async function updateProgress(copyId: string, progress: CopyStep, until: Date): Promise<void> {
  const { sourceIndex, afterContactId, added, skipped } = progress;
  await execute(
    `UPDATE contact_list_copies ${byId}
     SET source_index = ?, after_contact_id = ?, added = ?, skipped = ?, due_at = ? WHERE id = ?`,
    [
      sourceIndex,
      afterContactId === null ? null : idToBytes(afterContactId),
      added,
      skipped,
      until,
      Buffer.from(copyId, 'hex'),
    ],
  );
}

export async function updateFinished(copyId: string, at: Date): Promise<void> {
  await execute(
    `UPDATE contact_list_copies ${byId}
     SET running_list_id = NULL, due_at = NULL, lease_token = NULL, completed_at = ? WHERE id = ?`,
    [at, Buffer.from(copyId, 'hex')],
  );
}

/** Found by a plain read, so that no copy that is running is waited for. */
export async function deleteCopiesBefore(before: Date, limit: number): Promise<number> {
  const rows = await query('SELECT id FROM contact_list_copies WHERE completed_at < ? LIMIT ?', [
    before,
    limit,
  ]);
  if (rows.length === 0) return 0;
  const { affectedRows } = await query<Changed>(
    `DELETE c FROM contact_list_copies c ${byId} WHERE c.id IN (?)`,
    [rows.map(({ id }) => id)],
  );
  return affectedRows;
}

const removalsAtOnce = 1_000;

/** At most so many of the members of lists that are gone; returns how many went. */
export async function deleteMembersOfRemoved(limit: number): Promise<number> {
  const removals = await query('SELECT list_id FROM contact_list_removals ORDER BY list_id LIMIT ?', [
    removalsAtOnce,
  ]);
  let gone = 0;
  for (const { list_id: listId } of removals) {
    const { affectedRows } = await query<Changed>(
      'DELETE FROM contact_list_members WHERE list_id = ? ORDER BY contact_id LIMIT ?',
      [listId, limit - gone],
    );
    gone += affectedRows;
    if (gone === limit) break;
    await execute('DELETE FROM contact_list_removals WHERE list_id = ?', [listId]);
  }
  return gone;
}

function toCopy(row: Row): Copy {
  return {
    id: row.id.toString('hex'),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    listId: idFromBytes('list', row.list_id),
    request: JSON.parse(row.request),
    sourceIndex: row.source_index,
    afterContactId: row.after_contact_id && idFromBytes('contact', row.after_contact_id),
    added: row.added,
    skipped: row.skipped,
    createdAt: row.created_at,
  };
}
