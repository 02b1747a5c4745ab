import * as db from '../../db/email/emails.ts';
import { compareKey, parseMailbox } from '../../formats/email/address.ts';

const batchSize = 1_000;

/**
 * Deletes all emails of a workspace to an address, except emails that still wait to be sent. Their events and webhook
 * deliveries are deleted when their retention ends. Returns how many emails were deleted and how many still wait; null
 * where `address` is not a valid address.
 */
export async function eraseRecipient(
  workspaceId: string,
  address: string,
): Promise<{ erased: number; waiting: number } | null> {
  const parsed = parseMailbox(address, { allowDisplayName: false, isSent: false });
  if (!parsed.ok) return null;
  const key = compareKey(parsed.mailbox.address);
  for (let erased = 0; ; ) {
    const gone = await db.deleteEmailsOfRecipient(workspaceId, key, batchSize);
    erased += gone;
    if (gone < batchSize) return { erased, waiting: await db.findWaitingCountOfRecipient(workspaceId, key) };
  }
}
