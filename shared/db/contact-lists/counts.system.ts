import { idToBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { id, int, json, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, type Changed, query } from '../client.ts';
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

const countings = table('contact_list_counts', {
  listId: id('list').nullable(),
  filter: json<ContactFilter>().nullable(),
  afterContactId: id('contact').nullable(),
  counted: int(),
  beganAt: time().nullable(),
  workedMs: int(),
});
const nothing: RecordOf<typeof countings> = {
  listId: null,
  filter: null,
  afterContactId: null,
  counted: 0,
  beganAt: null,
  workedMs: 0,
};

/** The list in hand, with the filter that it is counted by, and how far that has come. */
export type CountProgress = Omit<RecordOf<typeof countings>, 'listId' | 'filter' | 'beganAt'> & {
  listId: string;
  filter: ContactFilter;
  beganAt: Date;
};

/** Where the counting that a worker has in hand is. Null: no list is in hand. */
export async function findCounting(lease: Lease): Promise<CountProgress | null> {
  const found = await findHeldForUpdate(countingTable, countings, lease);
  return found?.listId ? (found as CountProgress) : null;
}

/** How far the counting has come; the lease is longer by that. False: it is no longer this worker's. */
export async function updateCounting(
  { id: workspaceId, token }: Lease,
  until: Date,
  progress: CountProgress | null,
): Promise<boolean> {
  const row = countings.toRow({
    ...nothing,
    ...progress,
    workedMs: Math.round(progress?.workedMs ?? 0),
  });
  const { affectedRows } = await query<Changed>(
    `UPDATE contact_list_counts ${byId} SET ?, due_at = ? WHERE workspace_id = ? AND lease_token = ?`,
    [row, until, idToBytes(workspaceId), token],
  );
  return affectedRows === 1;
}

/**
 * Lets go of the counting, which is due again then if another count is wanted; returns whether it is. Belongs into a
 * transaction: what is wanted meanwhile waits for its end, and is then due.
 */
export async function updateCountingReleased(lease: Lease, dueAt: Date): Promise<boolean> {
  if (!(await findHeldForUpdate(countingTable, countings, lease))) return false;
  const isWanted = (await findCountWanted(lease.id)) !== null;
  await updateReleased(countingTable, lease, isWanted ? dueAt : null);
  return isWanted;
}
