import { idToBytes } from '../../formats/ids.ts';
import { byId, query, updateEach } from '../client.ts';
import { type EmailRecord, toRecord } from './emails.ts';

/** An email by the link in it, whoever's it is. */
export async function findEmailOfLink(emailId: string): Promise<EmailRecord | null> {
  const [row] = await query('SELECT * FROM emails WHERE id = ?', [idToBytes(emailId)]);
  return row ? toRecord(row) : null;
}

/** The emails among these whose loads are counted, locked until the transaction ends. */
export async function listTrackedForUpdate(emailIds: string[]): Promise<EmailRecord[]> {
  const rows = await query(
    `SELECT * FROM emails ${byId} WHERE id IN (?) AND track_opens = 1 ORDER BY id FOR UPDATE`,
    [emailIds.map(idToBytes)],
  );
  return rows.map(toRecord);
}

/** Writes how often these have been opened, and when first. */
export async function updateOpens(emails: EmailRecord[]): Promise<void> {
  await updateEach('emails', emails, {
    open_count: ({ openCount }) => openCount,
    opened_at: ({ openedAt }) => openedAt,
    updated_at: ({ updatedAt }) => updatedAt,
    event_seq: ({ eventSeq }) => eventSeq,
  });
}
