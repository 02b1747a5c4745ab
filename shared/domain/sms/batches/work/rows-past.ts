import * as system from '../../../../db/sms/batches/batches.system.ts';

const batchesAtOnce = 100;

/** Deletes rows of batches that need them no more, of `limit` at most; returns how many went. */
export async function deleteRowsPast(limit: number): Promise<number> {
  let gone = 0;
  for (const batchId of await system.listBatchesPastRows(batchesAtOnce)) {
    gone += await system.deleteRowsOf(batchId, limit - gone);
    if (gone >= limit) break;
    await system.updateRowsGone(batchId);
  }
  return gone;
}
