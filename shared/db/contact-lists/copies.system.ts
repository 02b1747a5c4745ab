import type { RecordOf } from '../client/table.ts';
import { byId, changeRows, execute, query } from '../client.ts';
import { findHeldForUpdate } from '../work/due.system.ts';
import { type Lease, ofWorkspaces, workTable } from '../work/table.system.ts';
import { copies, ended } from './copies.ts';

/** Copies of list members, as the jobs that make them see them: across workspaces. */

export type Copy = RecordOf<typeof copies>;
const progress = copies.pick('sourceIndex', 'afterContactId', 'added', 'skipped');

export const copyTable = workTable(copies, { ...ofWorkspaces, index: 'contact_list_copies_admission' });

/** Locks the copy until the transaction ends; null when the copy is over, or this worker has lost the lease. */
export function findClaimedForUpdate(lease: Lease): Promise<Copy | null> {
  return findHeldForUpdate(copyTable, copies, lease);
}

/** Writes how far the copy has come, and extends the lease to `until`. */
export async function updateProgress(
  copyId: string,
  step: RecordOf<typeof progress>,
  until: Date,
): Promise<void> {
  await query(`UPDATE contact_list_copies ${byId} SET ?, due_at = ? WHERE id = ?`, [
    progress.toRow(step),
    until,
    Buffer.from(copyId, 'hex'),
  ]);
}

export async function updateFinished(copyId: string, at: Date): Promise<void> {
  await execute(`UPDATE contact_list_copies ${byId} SET ${ended} WHERE id = ?`, [
    at,
    Buffer.from(copyId, 'hex'),
  ]);
}

const removalsAtOnce = 1_000;

/** Deletes at most `limit` members of lists that are gone; returns how many were deleted. */
export async function deleteMembersOfRemoved(limit: number): Promise<number> {
  const removals = await query<{ list_id: Buffer }[]>(
    'SELECT list_id FROM contact_list_removals ORDER BY list_id LIMIT ?',
    [removalsAtOnce],
  );
  let gone = 0;
  for (const { list_id: listId } of removals) {
    gone += await changeRows(
      'DELETE FROM contact_list_members WHERE list_id = ? ORDER BY contact_id LIMIT ?',
      [listId, limit - gone],
    );
    if (gone === limit) break;
    await execute('DELETE FROM contact_list_removals WHERE list_id = ?', [listId]);
  }
  return gone;
}
