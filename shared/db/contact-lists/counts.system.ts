import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { byId, type Changed, execute, type Row } from '../client.ts';
import { findHeldForUpdate, updateReleased } from '../work/due.system.ts';
import type { DueTable, Lease } from '../work/table.system.ts';
import { findCountWanted } from './counts.ts';

/** The counting of a workspace's dynamic lists, which goes on as a job. */

export const countingTable: DueTable = {
  name: 'contact_list_counts',
  key: { column: 'workspace_id', prefix: 'workspace' },
  due: 'due_at',
  isLeased: true,
  hasRequest: false,
};

/** The list in hand, with the filter that it is counted by, and how far that has come. */
export type CountProgress = {
  listId: string;
  filter: ContactFilter;
  afterContactId: string | null;
  counted: number;
  beganAt: Date;
  workedMs: number;
};

/** Where the counting that a worker has in hand is. Null: no list is in hand. */
export async function findCounting(lease: Lease): Promise<CountProgress | null> {
  const row = await findHeldForUpdate(countingTable, lease);
  return row && toProgress(row);
}

/** How far the counting has come; the lease is longer by that. False: it is no longer this worker's. */
export async function updateCounting(
  { id: workspaceId, token }: Lease,
  until: Date,
  progress: CountProgress | null,
): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE contact_list_counts ${byId} SET due_at = ?, list_id = ?, filter = ?, after_contact_id = ?, counted = ?,
       began_at = ?, worked_ms = ? WHERE workspace_id = ? AND lease_token = ?`,
    [
      until,
      progress && idToBytes(progress.listId),
      progress && JSON.stringify(progress.filter),
      progress?.afterContactId ? idToBytes(progress.afterContactId) : null,
      progress?.counted ?? 0,
      progress?.beganAt ?? null,
      Math.round(progress?.workedMs ?? 0),
      idToBytes(workspaceId),
      token,
    ],
  );
  return affectedRows === 1;
}

/**
 * Lets go of the counting, which is due again then if another count is wanted; returns whether it is. Belongs into a
 * transaction: what is wanted meanwhile waits for its end, and is then due.
 */
export async function updateCountingReleased(lease: Lease, dueAt: Date): Promise<boolean> {
  if (!(await findHeldForUpdate(countingTable, lease))) return false;
  const isWanted = (await findCountWanted(lease.id)) !== null;
  await updateReleased(countingTable, lease, isWanted ? dueAt : null);
  return isWanted;
}

function toProgress(row: Row): CountProgress | null {
  if (!row.list_id) return null;
  return {
    listId: idFromBytes('list', row.list_id),
    filter: JSON.parse(row.filter),
    afterContactId: row.after_contact_id && idFromBytes('contact', row.after_contact_id),
    counted: row.counted,
    beganAt: row.began_at,
    workedMs: row.worked_ms,
  };
}
