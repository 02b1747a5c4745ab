import { idToBytes } from '../../formats/ids.ts';
import { findRowOfAny } from '../client/rows.system.ts';
import { byId, query, updateEach } from '../client.ts';
import { type EmailRecord, emails } from './emails.ts';

/** Returns the email that a link in it names, of any workspace. */
export function findEmailOfLink(emailId: string): Promise<EmailRecord | null> {
  return findRowOfAny(emails, emailId);
}

/** Lists, of these emails, the ones with open tracking, and locks them until the transaction ends. */
export async function listTrackedForUpdate(emailIds: string[]): Promise<EmailRecord[]> {
  return emails.toRecords(
    await query(`SELECT * FROM emails ${byId} WHERE id IN (?) AND track_opens = 1 ORDER BY id FOR UPDATE`, [
      emailIds.map(idToBytes),
    ]),
  );
}

const opened = emails.pick('openCount', 'openedAt', 'updatedAt', 'eventSeq');

/** Stores how often these emails were opened, and when first. */
export function updateOpens(records: EmailRecord[]): Promise<void> {
  return updateEach(opened, records);
}
