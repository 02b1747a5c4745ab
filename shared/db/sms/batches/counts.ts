import { idToBytes } from '../../../formats/ids.ts';
import type { BatchChange } from '../../client/batch-counts.ts';
import { changeCount, execute, query } from '../../client.ts';

/** The rows and messages of a batch by status, and the parts and cost of its messages (cost in ten-thousandths). */
export type BatchCounts = {
  waiting: number;
  queued: number;
  sent: number;
  delivered: number;
  failed: number;
  cancelled: number;
  parts: number;
  costGbp: number;
  costEur: number;
  /** When the last message was handed over, and when any count last changed. */
  sentAt: Date | null;
  changedAt: Date | null;
};

export const noCounts: BatchCounts = {
  waiting: 0,
  queued: 0,
  sent: 0,
  delivered: 0,
  failed: 0,
  cancelled: 0,
  parts: 0,
  costGbp: 0,
  costEur: 0,
  sentAt: null,
  changedAt: null,
};

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

/** The sums are null where a batch has no rows of counts. */
type SumsRow = Record<
  'waiting' | 'queued' | 'sent' | 'delivered' | 'failed' | 'cancelled' | 'parts' | 'cost_gbp' | 'cost_eur',
  string | null
> & { sent_at: Date | null; changed_at: Date | null };

const sums = `SUM(waiting) AS waiting, SUM(queued) AS queued, SUM(sent) AS sent, SUM(delivered) AS delivered,
  SUM(failed) AS failed, SUM(cancelled) AS cancelled, SUM(parts) AS parts, SUM(cost_gbp) AS cost_gbp,
  SUM(cost_eur) AS cost_eur, MAX(sent_at) AS sent_at, MAX(changed_at) AS changed_at`;

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
  return {
    waiting: Number(row.waiting ?? 0),
    queued: Number(row.queued ?? 0),
    sent: Number(row.sent ?? 0),
    delivered: Number(row.delivered ?? 0),
    failed: Number(row.failed ?? 0),
    cancelled: Number(row.cancelled ?? 0),
    parts: Number(row.parts ?? 0),
    costGbp: Number(row.cost_gbp ?? 0),
    costEur: Number(row.cost_eur ?? 0),
    sentAt: row.sent_at,
    changedAt: row.changed_at,
  };
}
