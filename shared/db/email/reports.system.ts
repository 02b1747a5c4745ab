import { idToBytes } from '../../formats/ids.ts';
import { fitting } from '../client/outside-text.ts';
import { byId, type Changed, execute } from '../client.ts';
import { type EmailRecord, toRecord } from './emails.ts';

/** The email that a report is about, whosever it is, locked to the end of the transaction. */
export async function findReportedEmailForUpdate(emailId: string): Promise<EmailRecord | null> {
  const [row] = await execute(`SELECT * FROM emails ${byId} WHERE id = ? FOR UPDATE`, [idToBytes(emailId)]);
  return row ? toRecord(row) : null;
}

/** Writes down what a report has changed; false, changing nothing, when the email is no more as it was `before`. */
export async function updateReportedEmail(before: EmailRecord, after: EmailRecord): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE emails ${byId} SET status = ?, reason_category = ?, reason_code = ?, reason_description = ?,
       reason_retryable = ?, updated_at = ?, delivered_at = ?, event_seq = ?
     WHERE id = ? AND status = ? AND event_seq = ?`,
    [
      after.status,
      after.reason?.category ?? null,
      fitting('emails.reason_code', after.reason?.code ?? null),
      fitting('emails.reason_description', after.reason?.description ?? null),
      after.reason ? Number(after.reason.retryable) : null,
      after.updatedAt,
      after.deliveredAt,
      after.eventSeq,
      idToBytes(before.id),
      before.status,
      before.eventSeq,
    ],
  );
  return affectedRows === 1;
}

/** Whether the email has told of a delay, as far back as events are kept. */
export async function findDelayedEvent(workspaceId: string, emailId: string): Promise<boolean> {
  const rows = await execute(
    `SELECT 1 FROM events WHERE workspace_id = ? AND record_id = ? AND type = 'email.delayed' LIMIT 1`,
    [idToBytes(workspaceId), idToBytes(emailId)],
  );
  return rows.length > 0;
}
