import { now } from '../../common/clock.ts';
import { transaction } from '../../db/client.ts';
import { findCounterForUpdate } from '../../db/server/counters.system.ts';
import * as db from '../../db/sms/ledger.system.ts';

// An entry gets its id a while before its transaction commits. No transaction takes as long as this: where its process
// stands still, the database ends it after a minute.
const settledMs = 300_000;
const sumEveryMs = 60_000;
const mostAtOnce = 20_000;

/** Adds the entries that the ledger got since the last time to its sums by hour, batch by batch. */
export async function sumUp(): Promise<void> {
  while (await transaction(sumBatch));
}

/**
 * Adds one batch; returns whether there is another. The mark moves in the transaction that adds the entries up to it,
 * so no kill makes an entry count twice or not at all.
 */
async function sumBatch(): Promise<boolean> {
  const mark = new Date(await findCounterForUpdate('sms_ledger.summed'));
  const settled = new Date(now().getTime() - settledMs);
  if (settled.getTime() - mark.getTime() < sumEveryMs) return false;
  const full = await db.findEntryTime(mark, mostAtOnce);
  // Ids have a resolution of one millisecond, so all entries of one millisecond are summed up together.
  const end = full && full < settled ? new Date(full.getTime() + 1) : settled;
  await db.sumLedger(mark, end);
  return end < settled;
}

/**
 * Merges old entries of deleted messages into the first entry of their workspace, so the sum of its ledger stays.
 * Returns how many entries were deleted, of `limit` at most.
 */
export async function fold(before: Date, limit: number): Promise<number> {
  // The sums come first: after the merge nobody can tell when an entry was made.
  await sumUp();
  const ids = await db.listSettledEntries(before, limit);
  if (ids.length === 0) return 0;
  return transaction(async () => {
    await db.updateCarried(await db.listSumsForUpdate(ids), now());
    return db.deleteEntries(ids);
  });
}
