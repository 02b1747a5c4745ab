import { now } from '../../common/clock.ts';
import { forgetAtEnd } from '../../common/closing.ts';
import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { config } from '../../config/config.ts';
import { fitting } from '../../db/client/outside-text.ts';
import { afterCommit } from '../../db/client.ts';
import { compareKey, parseMailbox } from '../../formats/email/address.ts';
import { newId } from '../../formats/ids.ts';
import { excerptOf } from '../../formats/text-excerpt.ts';
import { queued } from '../email/record.ts';
import { store } from '../email/send.ts';
import { makeSystem, systemWorkspaceId } from '../workspace/workspaces.ts';

/** Mail of the platform itself. It is in no customer's workspace, so no customer's limit or suppression applies. */

export type SystemMail = { subject: string; text: string };

let isMade = false;
forgetAtEnd(() => {
  isMade = false;
});

/** Makes the workspace that sends this mail, so that the operator can give it a domain before it is needed. */
export async function prepare(): Promise<void> {
  if (isMade || !config.SYSTEM_SENDER) return;
  await makeSystem();
  isMade = true;
}

/**
 * Queues a mail in the current transaction. Without a sender or a recipient, the mail is left out and a warning is
 * logged; the event that the mail is about has happened all the same.
 */
export async function send(to: string | null, mail: SystemMail): Promise<void> {
  const recipient = parseMailbox(to ?? '', { allowDisplayName: false });
  if (!config.SYSTEM_SENDER) return leaveOut('no_sender', mail);
  if (!recipient.ok) return leaveOut('no_recipient', mail);
  const body = { html: null, text: mail.text };
  const at = now();
  const record = queued(
    {
      id: newId('email', at),
      workspaceId: systemWorkspaceId,
      kind: 'transactional',
      sender: config.SYSTEM_SENDER,
      recipient: recipient.mailbox.address,
      recipientKey: compareKey(recipient.mailbox.address),
      // The subject may contain a customer's host or domain, so it is cut to the column's length.
      subject: fitting('emails.subject', mail.subject),
      textExcerpt: excerptOf(body),
      clientReference: null,
      clientTag: null,
      trackOpens: false,
      bypassSuppressions: true,
      scheduledAt: null,
      storedBytes: Buffer.byteLength(mail.text),
    },
    at,
  );
  await store({ record, body, attachments: [] });
}

function leaveOut(reason: 'no_sender' | 'no_recipient', mail: SystemMail): void {
  afterCommit(() => {
    count('system_mails_left_out', { reason });
    logger.warn({ reason, subject: mail.subject }, 'an email of the platform itself was not sent');
  });
}
