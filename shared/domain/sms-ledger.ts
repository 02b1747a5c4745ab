import { now } from '../clock.ts';
import { transaction } from '../db/client.ts';
import * as db from '../db/system/sms-ledger.ts';

/**
 * Puts changes of balances that were made before then, by messages that are gone, together into what the ledger of their
 * workspace begins with: its sum stays. Returns how many of them went, of `limit` at most.
 */
export async function fold(before: Date, limit: number): Promise<number> {
  const ids = await db.listSettledEntries(before, limit);
  if (ids.length === 0) return 0;
  return transaction(async () => {
    await db.updateCarried(await db.listSumsForUpdate(ids), now());
    return db.deleteEntries(ids);
  });
}
