import { query } from '../../../shared/db/client.ts';
import type { EmailRecord, EmailStatus } from '../../../shared/db/email/emails.ts';
import * as mailReports from '../../../shared/domain/email/mail-reports/mail-reports.ts';
import { makeReturnPath } from '../../../shared/domain/email/mail-reports/return-path.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { acceptEmail } from './accepted-email.ts';
import type { workspace } from './factory.ts';

/** Makes an email in this status without sending it. `returnPath` is the address that reports about the email go to. */
export async function emailIn(
  status: EmailStatus,
  from: Awaited<ReturnType<typeof workspace>>,
  changes: Record<string, unknown> = {},
) {
  const email = await acceptEmail(from, changes);
  await query(
    `UPDATE emails SET status = ?, due_at = IF(? = 'queued', due_at, NULL), sent_at = IF(? IN ('sent', 'delivered'), created_at, NULL),
       delivered_at = IF(? = 'delivered', created_at, NULL) WHERE id = ?`,
    [status, status, status, status, idToBytes(email.id)],
  );
  return {
    ...email,
    returnPath: makeReturnPath(email.id, 'bounce.example.org'),
    state: async (): Promise<[EmailStatus, string | null]> => {
      const record: EmailRecord = await email.read();
      return [record.status, record.reason && `${record.reason.category} ${record.reason.code}`];
    },
  };
}

/** Hands a message to the platform, as the inbound process and the API's inbound endpoint do. */
export function receive(raw: Buffer, recipients: readonly string[]): Promise<mailReports.ReportOutcome> {
  return mailReports.receive(raw, { recipients, sender: '192.0.2.1' });
}
