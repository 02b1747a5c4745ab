import { idToBytes } from '../../formats/ids.ts';
import { byId, query, sqlTime } from '../client.ts';
import { type EmailRecord, toRecord } from '../emails.ts';

/** An email by the link in it, whoever's it is. */
export async function findEmailOfLink(emailId: string): Promise<EmailRecord | null> {
  const [row] = await query('SELECT * FROM emails WHERE id = ?', [idToBytes(emailId)]);
  return row ? toRecord(row) : null;
}

/** Those of these whose loads are counted, locked until the transaction ends. */
export async function listTrackedForUpdate(emailIds: string[]): Promise<EmailRecord[]> {
  // Not by a JSON_TABLE: MySQL locks nothing together with one (its error 3569).
  const rows = await query(
    `SELECT * FROM emails ${byId} WHERE id IN (?) AND track_opens = 1 ORDER BY id FOR UPDATE`,
    [emailIds.map(idToBytes)],
  );
  return rows.map(toRecord);
}

/** Writes how often these have been opened, and when first. */
export async function updateOpens(emails: EmailRecord[]): Promise<void> {
  const changes = emails.map((email) => ({
    id: idToBytes(email.id).toString('hex'),
    count: email.openCount,
    opened: sqlTime(email.openedAt),
    updated: sqlTime(email.updatedAt),
    seq: email.eventSeq,
  }));
  await query(
    `UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
        id CHAR(32) PATH '$.id', count INT UNSIGNED PATH '$.count', opened DATETIME(3) PATH '$.opened',
        updated DATETIME(3) PATH '$.updated', seq INT PATH '$.seq')) AS change_of
     STRAIGHT_JOIN emails ${byId} ON emails.id = UNHEX(change_of.id)
     SET open_count = change_of.count, opened_at = opened, updated_at = updated, event_seq = seq`,
    [JSON.stringify(changes)],
  );
}
