import { now } from '../../common/clock.ts';
import { transaction } from '../../db/client.ts';
import * as db from '../../db/sms/ledger.system.ts';

// An entry gets its id a while before its transaction commits. No transaction takes that long, and one whose process stands
// still is ended by the database after a minute.
const settledMs = 300_000;
const sumEveryMs = 60_000;
const mostAtOnce = 20_000;

/** Adds what the ledger has become since the last time to its sums by hour, batch by batch. */
export async function sumUp(): Promise<void> {
  while (await transaction(sumBatch));
}

/** The mark moves in the transaction that adds what it stands for, so no kill makes an entry count twice or not at all. */
async function sumBatch(): Promise<boolean> {
  const mark = await db.findLedgerMarkForUpdate();
  const settled = new Date(now().getTime() - settledMs);
  if (settled.getTime() - mark.getTime() < sumEveryMs) return false;
  const full = await db.findEntryTime(mark, mostAtOnce);
  // Ids say milliseconds, so those of one are summed up together.
  const end = full && full < settled ? new Date(full.getTime() + 1) : settled;
  await db.sumLedger(mark, end);
  return end < settled;
}

/**
 * Puts changes of balances that were made before then, by messages that are gone, together into what the ledger of their
 * workspace begins with: its sum stays. Returns how many of them went, of `limit` at most.
 */
export async function fold(before: Date, limit: number): Promise<number> {
  // Afterwards nobody can tell any more when an entry was made.
  await sumUp();
  const ids = await db.listSettledEntries(before, limit);
  if (ids.length === 0) return 0;
  return transaction(async () => {
    await db.updateCarried(await db.listSumsForUpdate(ids), now());
    return db.deleteEntries(ids);
  });
}
