import { idToBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { id, int, json, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, changeRows } from '../client.ts';
import { findHeldForUpdate, updateReleased } from '../work/due.system.ts';
import { dueTable, type Lease } from '../work/table.system.ts';
import { findCountWanted } from './counts.ts';

/** The counting of a workspace's dynamic lists, which a job does. */

const countings = table('contact_list_counts', {
  workspaceId: id('workspace'),
  dueAt: time().nullable(),
  claims: int(),
  listId: id('list').nullable(),
  filter: json<ContactFilter>().nullable(),
  afterContactId: id('contact').nullable(),
  counted: int(),
  beganAt: time().nullable(),
  workedMs: int(),
});
export const countingTable = dueTable(countings, {
  key: 'workspaceId',
  due: 'dueAt',
  index: 'contact_list_counts_due',
});

const progressed = countings.omit('workspaceId', 'dueAt', 'claims');
const nothing: RecordOf<typeof progressed> = {
  listId: null,
  filter: null,
  afterContactId: null,
  counted: 0,
  beganAt: null,
  workedMs: 0,
};

/** The list that is being counted, with the filter that it is counted by, and how far the count has come. */
export type CountProgress = Omit<RecordOf<typeof progressed>, 'listId' | 'filter' | 'beganAt'> & {
  listId: string;
  filter: ContactFilter;
  beganAt: Date;
};

/** Returns how far the counting has come. Null: no list is being counted, or this worker has lost the lease. */
export async function findCounting(lease: Lease): Promise<CountProgress | null> {
  const found = await findHeldForUpdate(countingTable, progressed, lease);
  return found?.listId ? (found as CountProgress) : null;
}

/** Writes how far the counting has come, and extends the lease to `until`. False: this worker has lost the lease. */
export async function updateCounting(
  { id: workspaceId, token }: Lease,
  until: Date,
  progress: CountProgress | null,
): Promise<boolean> {
  const row = progressed.toRow({
    ...nothing,
    ...progress,
    workedMs: Math.round(progress?.workedMs ?? 0),
  });
  const changed = await changeRows(
    `UPDATE contact_list_counts ${byId} SET ?, due_at = ? WHERE workspace_id = ? AND lease_token = ?`,
    [row, until, idToBytes(workspaceId), token],
  );
  return changed === 1;
}

/**
 * Releases the counting, which is due again at `dueAt` if another count is wanted; returns whether one is. Belongs into
 * a transaction: a count that is requested meanwhile waits for the end of the transaction, and is then due.
 */
export async function updateCountingReleased(lease: Lease, dueAt: Date): Promise<boolean> {
  if (!(await findHeldForUpdate(countingTable, countings, lease))) return false;
  const isWanted = (await findCountWanted(lease.id)) !== null;
  await updateReleased(countingTable, lease, isWanted ? dueAt : null);
  return isWanted;
}
