import { logger } from '../../../common/logger.ts';
import type { EmailRecord, StoredBody } from '../../../db/email/emails.ts';
import type { Mailbox } from '../../../formats/email/address.ts';
import { type DkimSigner, signMessage, signParts } from '../../../formats/email/dkim.ts';
import { composeMessage, composeWithAttachments, streamOf } from '../../../formats/email/mime-message.ts';
import type { HandOver } from '../../../transports/smtp.ts';
import type { SigningDomain } from '../domains/domains.ts';
import { unsubscribeHeaders } from '../tracking/links.ts';
import { attachmentsOf, MissingAttachment } from './attachments.ts';

/**
 * Composes the message. Every attempt gives the same bytes, as all times in it are the email's own (API decisions §7).
 * Null when one of its attachments is missing: an email never goes out incomplete.
 */
export async function compose(
  email: EmailRecord,
  body: StoredBody,
  sender: Mailbox,
  recipient: Mailbox,
  domain: SigningDomain | null,
): Promise<HandOver['message'] | null> {
  const outgoing = {
    messageId: `${email.id}@${sender.domain}`,
    date: email.scheduledAt ?? email.createdAt,
    from: { address: sender.address, displayName: sender.displayName },
    to: { address: recipient.address, displayName: recipient.displayName },
    subject: email.subject,
    html: body.html,
    text: body.text,
    headers: email.kind === 'marketing' ? unsubscribeHeaders(email.id) : {},
  };
  const signer: DkimSigner | null = domain && {
    domain: domain.name,
    selector: domain.selector,
    privateKey: domain.privateKey,
    signedAt: email.createdAt,
  };
  if (body.attachmentCount === 0) {
    const message = await composeMessage(outgoing);
    return signer ? signMessage(message, signer) : message;
  }
  try {
    const attachments = await attachmentsOf(email.id, body.attachmentCount);
    const parts = composeWithAttachments(outgoing, attachments);
    return streamOf(signer ? await signParts(parts, signer) : parts);
  } catch (error) {
    if (!(error instanceof MissingAttachment)) throw error;
    logger.error(
      { emailId: email.id, detail: error.message },
      'an attachment of an email is missing, so the email has failed',
    );
    return null;
  }
}
