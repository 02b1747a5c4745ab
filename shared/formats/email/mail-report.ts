import { type RecipientStatus, recipientsOf } from './mail-report/delivery-status.ts';
import { addressesOf, type Fields, fieldGroups, firstOf, mentionedIn } from './mail-report/fields.ts';
import { type MimeMessage, partsOf } from './mail-report/parts.ts';
import { qmailRecipientsOf } from './mail-report/qmail.ts';
import { type Signature, signaturesIn, signedPart } from './mail-report/signatures.ts';

export { TooComplex } from './mail-report/parts.ts';
export type { RecipientStatus, Signature };

/** The report in an incoming message: RFC 3464 (and qmail's own form), RFC 5965, or nothing that is understood. */
export type MailReport =
  | { kind: 'delivery'; recipients: RecipientStatus[] }
  | { kind: 'complaint'; feedbackType: string; recipients: string[] }
  | { kind: 'none' }
  /** The message says that it is a report, but has nothing that can be used. */
  | { kind: 'unreadable' };

export type IncomingMail = {
  report: MailReport;
  /** The recipients that the headers of the message name, the most certain first. */
  deliveredTo: string[];
  /** The Message-ID of the message that is reported about, without its angle brackets. */
  reportedMessageId: string | null;
  /** The DKIM signatures of the message. None of them is verified yet. */
  signatures: Signature[];
};

/** The most values that are read of one field, which may occur any number of times. */
const mostValues = 20;

/**
 * Reads a message. Its beginning is enough, because a report comes before the message that it is about. Throws
 * TooComplex.
 */
export function readMail(raw: Uint8Array): IncomingMail {
  const mail = partsOf(raw);
  const original = originalHeaders(mail);
  return {
    report: reportIn(mail, original),
    deliveredTo: ['delivered-to', 'x-original-to', 'to'].flatMap((name) =>
      mail.values(name).slice(0, mostValues).flatMap(mentionedIn),
    ),
    reportedMessageId: /^<([^<>\s]+)>$/.exec(firstOf(original, 'message-id') ?? '')?.[1] ?? null,
    signatures: signaturesIn(mail.values('dkim-signature')),
  };
}

/** Reads only the parts of a message that one of these keys has signed; null when no signature verifies. */
export async function readSignedMail(
  raw: Uint8Array,
  keys: ReadonlyMap<string, readonly string[]>,
  at: Date,
): Promise<IncomingMail | null> {
  const signed = await signedPart(raw, keys, at);
  return signed && readMail(signed);
}

function reportIn(mail: MimeMessage, original: Fields | undefined): MailReport {
  // The part for people comes first. Its text is read as it is written, HTML included.
  const explanation = mail.parts.find(({ type }) => type === 'text/plain' || type === 'text/html');
  if (mail.type !== 'multipart/report') {
    const recipients = qmailRecipientsOf(explanation?.text() ?? '');
    return recipients.length > 0 ? { kind: 'delivery', recipients } : { kind: 'none' };
  }
  const status = textOf(mail, ['message/delivery-status', 'message/global-delivery-status']);
  if (status !== null) {
    const recipients = recipientsOf(status, (explanation?.text() ?? '').slice(0, 16_000));
    return recipients.length > 0 ? { kind: 'delivery', recipients } : { kind: 'unreadable' };
  }
  const [feedback] = fieldGroups(textOf(mail, ['message/feedback-report']) ?? '');
  const feedbackType = firstOf(feedback, 'feedback-type')?.toLowerCase();
  if (!feedback || !feedbackType) return { kind: 'unreadable' };
  const named = [
    ...(feedback.get('original-rcpt-to') ?? []).flatMap(addressesOf),
    ...(original?.get('to') ?? []).slice(0, mostValues).flatMap(mentionedIn),
  ];
  return { kind: 'complaint', feedbackType, recipients: [...new Set(named)] };
}

/** The headers of the message that is reported about. */
function originalHeaders(mail: MimeMessage): Fields | undefined {
  const types = ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers'];
  const text = textOf(mail, types);
  return text === null ? undefined : fieldGroups(text.trimStart().split(/\r?\n\r?\n/, 1)[0]!)[0];
}

function textOf(mail: MimeMessage, types: string[]): string | null {
  return mail.parts.find(({ type }) => types.includes(type))?.text() ?? null;
}
