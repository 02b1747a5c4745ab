import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import { batchLanes } from '../../../schemas/lanes.ts';
import { deleteByIds, findRowOfAny } from '../../client/rows.system.ts';
import type { RowOf } from '../../client/table.ts';
import { byId, changeRows, execute, query } from '../../client.ts';
import { claimer } from '../../work/claim.system.ts';
import { findHeldForUpdate } from '../../work/due.system.ts';
import { type Lease, ofMessages, workTable } from '../../work/table.system.ts';
import { type ShownSmsBatch, type SmsBatchRecord, shown, smsBatches } from './batches.ts';

export const batchTable = workTable(smsBatches, {
  ...ofMessages,
  lanes: { field: 'lane', order: batchLanes },
  index: 'sms_batches_admission',
});

type ClaimedBatch = { batch: SmsBatchRecord; token: Buffer };

export const claimBatch = claimer<ClaimedBatch, RowOf<typeof smsBatches>>(batchTable, {
  select: 'SELECT * FROM sms_batches',
  toClaimed: (row, token) => ({ batch: smsBatches.toRecord(row), token }),
});

export function findSmsBatchOfAny(batchId: string): Promise<ShownSmsBatch | null> {
  return findRowOfAny(shown, batchId);
}

/** Lists the unfinished batches of all workspaces, newest first. */
export async function listUnfinishedBatches(limit: number): Promise<ShownSmsBatch[]> {
  return shown.toRecords(
    await query(
      `SELECT ${shown.columns} FROM sms_batches FORCE INDEX (sms_batches_admission)
     WHERE status = 'queued' ORDER BY id DESC LIMIT ?`,
      [limit],
    ),
  );
}

/** Returns the batch, locked until the transaction ends; null when the lease is no longer ours. */
export function findBatchHeldForUpdate(lease: Lease): Promise<SmsBatchRecord | null> {
  return findHeldForUpdate(batchTable, smsBatches, lease);
}

/** Lists batches that are over and still have stored rows. */
export async function listBatchesPastRows(limit: number): Promise<string[]> {
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM sms_batches FORCE INDEX (sms_batches_of_rows)
     WHERE rows_kept = 1 AND status = 'over' LIMIT ?`,
    [limit],
  );
  return rows.map((row) => idFromBytes('batch', row.id));
}

/** Deletes at most `limit` rows of a batch; returns how many. */
export function deleteRowsOf(batchId: string, limit: number): Promise<number> {
  return changeRows('DELETE FROM sms_batch_rows WHERE batch_id = ? ORDER BY position LIMIT ?', [
    idToBytes(batchId),
    limit,
  ]);
}

export async function updateRowsGone(batchId: string): Promise<void> {
  await execute(`UPDATE sms_batches ${byId} SET rows_kept = 0 WHERE id = ?`, [idToBytes(batchId)]);
}

/** Deletes up to `limit` batches that ended before then, with their counts; returns how many. */
export async function deleteBatchesBefore(until: Date, limit: number): Promise<number> {
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM sms_batches FORCE INDEX (sms_batches_completed)
     WHERE completed_at < ? AND rows_kept = 0 ORDER BY completed_at LIMIT ?`,
    [until, limit],
  );
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  await query(`DELETE c FROM sms_batch_counts c ${byId} WHERE c.batch_id IN (?)`, [ids]);
  return deleteByIds('sms_batches', ids);
}
