import * as system from '../../../../db/sms/batches/batches.system.ts';

const batchesAtOnce = 100;

/** Deletes at most `limit` rows of batches that no longer need their rows, and returns how many. */
export async function deleteRowsPast(limit: number): Promise<number> {
  let gone = 0;
  for (const batchId of await system.listBatchesPastRows(batchesAtOnce)) {
    gone += await system.deleteRowsOf(batchId, limit - gone);
    if (gone >= limit) break;
    await system.updateRowsGone(batchId);
  }
  return gone;
}
