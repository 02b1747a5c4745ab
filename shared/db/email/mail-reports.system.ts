import { idToBytes } from '../../formats/ids.ts';
import { findRowOfAny } from '../client/rows.system.ts';
import { byId, changeRows, execute } from '../client.ts';
import { type EmailRecord, emails } from './emails.ts';

/** Returns the email that a report is about, of any workspace, locked until the transaction ends. */
export function findReportedEmailForUpdate(emailId: string): Promise<EmailRecord | null> {
  return findRowOfAny(emails, emailId, 'FOR UPDATE');
}

const reported = emails.pick('status', 'reason', 'updatedAt', 'deliveredAt', 'eventSeq');

/** Stores the changes of a report; false, changing nothing, when the email is no longer as in `before`. */
export async function updateReportedEmail(before: EmailRecord, after: EmailRecord): Promise<boolean> {
  const changed = await changeRows(
    `UPDATE emails ${byId} SET ? WHERE id = ? AND status = ? AND event_seq = ?`,
    [reported.toRow(after), idToBytes(before.id), before.status, before.eventSeq],
  );
  return changed === 1;
}

/** Tells whether the email has had an event about a delay, as far back as events are kept. */
export async function findDelayedEvent(workspaceId: string, emailId: string): Promise<boolean> {
  const rows = await execute(
    `SELECT 1 FROM events WHERE workspace_id = ? AND record_id = ? AND type = 'email.delayed' LIMIT 1`,
    [idToBytes(workspaceId), idToBytes(emailId)],
  );
  return rows.length > 0;
}
