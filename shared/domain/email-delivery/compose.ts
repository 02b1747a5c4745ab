import type { EmailRecord } from '../../db/emails.ts';
import { signMessage } from '../../formats/dkim.ts';
import type { Mailbox } from '../../formats/email-address.ts';
import { composeMessage } from '../../formats/mime-message.ts';
import type { SigningDomain } from '../email-domains.ts';

/** The same bytes at every attempt: all times in it are the email's own (contract §7). */
export async function compose(
  email: EmailRecord,
  body: { html: string | null; text: string | null },
  sender: Mailbox,
  recipient: string,
  domain: SigningDomain | null,
): Promise<Buffer> {
  const message = await composeMessage({
    messageId: `${email.id}@${sender.domain}`,
    date: email.scheduledAt ?? email.createdAt,
    from: { address: sender.address, displayName: sender.displayName },
    to: recipient,
    subject: email.subject,
    html: body.html,
    text: body.text,
    headers: {},
  });
  if (!domain) return message;
  return signMessage(message, {
    domain: domain.name,
    selector: domain.selector,
    privateKey: domain.privateKey,
    signedAt: email.createdAt,
  });
}
