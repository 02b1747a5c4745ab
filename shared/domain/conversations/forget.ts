import { transaction } from '../../db/client.ts';
import * as db from '../../db/conversations/conversations.system.ts';
import { findPairTotals } from '../../db/sms/of-conversations.ts';

/**
 * Deletes texts of all workspaces that were made before `until`, at most `limit`, and takes them out of their
 * conversations. A conversation whose last text is gone is deleted too. Returns how many texts went.
 */
export async function deleteTextsBefore(until: Date, limit: number): Promise<number> {
  return transaction(async () => {
    const ids = await db.listSmsPastForUpdate(until, limit);
    if (ids.length === 0) return 0;
    const leaving = await db.listLeaving(ids);
    const deleted = await db.deleteSms(ids);
    // This is rare: only a text that was still to be sent outlives a newer one.
    for (const left of await db.updateConversationsLeft(leaving, ids)) {
      const { inbound, outbound } = await findPairTotals(left.workspaceId, left);
      const [newest] = [inbound, outbound].toSorted((one, other) =>
        (one.lastId ?? '') < (other.lastId ?? '') ? 1 : -1,
      );
      if (newest?.lastId) await db.updateNewest(left, { id: newest.lastId, at: newest.lastAt! });
    }
    return deleted;
  });
}
