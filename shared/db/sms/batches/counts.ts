import { idToBytes } from '../../../formats/ids.ts';
import { type BatchChange, type BatchCounter, batchCounters } from '../../client/batch-counts.ts';
import { snake } from '../../client/table.ts';
import { changeCount, execute, query } from '../../client.ts';

/** `sentAt`: when the last message was handed over. `changedAt`: when any count last changed. */
type BatchTimes = { sentAt: Date | null; changedAt: Date | null };
export type BatchCounts = Record<BatchCounter, number> & BatchTimes;
/** The sums are null where a batch has no rows of counts. */
type SumsRow = Record<BatchCounter, string | null> & BatchTimes;

const sums = [
  ...batchCounters.map((name) => `SUM(${snake(name)}) AS ${name}`),
  'MAX(sent_at) AS sentAt',
  'MAX(changed_at) AS changedAt',
].join(', ');

const zeros = Object.fromEntries(batchCounters.map((name) => [name, 0])) as Record<BatchCounter, number>;
export const noCounts: BatchCounts = { ...zeros, sentAt: null, changedAt: null };

/**
 * Changes the counts of a batch in the current transaction, so that they are right even if the process dies. The
 * change is sent at the end of the transaction, so that others do not wait for its locks.
 */
export async function changeBatchCounts(
  workspaceId: string,
  batchId: string,
  at: Date,
  change: Omit<BatchChange, 'ofWorkspace' | 'batchId' | 'at'>,
): Promise<void> {
  await changeCount({ ofWorkspace: workspaceId, batchId, at, ...change });
}

/** Returns the counts of a batch. One statement sees one moment: a concurrent change is in all counts or in none. */
export async function findBatchCounts(workspaceId: string, batchId: string): Promise<BatchCounts> {
  const [row] = await execute<SumsRow[]>(
    `SELECT ${sums} FROM sms_batch_counts WHERE batch_id = ? AND workspace_id = ?`,
    [idToBytes(batchId), idToBytes(workspaceId)],
  );
  return toCounts(row!);
}

/** Returns the counts of several batches, in the order of `batchIds`. */
export async function listBatchCounts(workspaceId: string, batchIds: string[]): Promise<BatchCounts[]> {
  if (batchIds.length === 0) return [];
  const ids = batchIds.map(idToBytes);
  const rows = await query<(SumsRow & { batch_id: Buffer })[]>(
    `SELECT batch_id, ${sums} FROM sms_batch_counts WHERE batch_id IN (?) AND workspace_id = ? GROUP BY batch_id`,
    [ids, idToBytes(workspaceId)],
  );
  const byId = new Map(rows.map((row) => [row.batch_id.toString('hex'), toCounts(row)]));
  return ids.map((id) => byId.get(id.toString('hex')) ?? noCounts);
}

function toCounts(row: SumsRow): BatchCounts {
  const counts = batchCounters.map((name) => [name, Number(row[name] ?? 0)]);
  return { ...Object.fromEntries(counts), sentAt: row.sentAt, changedAt: row.changedAt };
}
