import { query } from '../../client.ts';

/** Unfinished batches by the state that the caller sees, and how many of their rows are not yet messages. */
export type BatchTotals = { status: string; batches: number; waiting: number };

export async function listBatchTotals(): Promise<BatchTotals[]> {
  const rows = await query<{ state: string; batches: number; waiting: number | string }[]>(
    `SELECT b.state, COUNT(*) AS batches,
       SUM((SELECT COALESCE(SUM(c.waiting), 0) FROM sms_batch_counts c WHERE c.batch_id = b.id)) AS waiting
     FROM sms_batches b FORCE INDEX (sms_batches_admission) WHERE b.status = 'queued' GROUP BY b.state`,
  );
  return rows.map(({ state, batches, waiting }) => ({
    status: state,
    batches,
    waiting: Number(waiting),
  }));
}
