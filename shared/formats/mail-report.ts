import PostalMime, { type Email } from 'postal-mime';
import { type RecipientStatus, recipientsOf } from './mail-report/delivery-status.ts';
import { addressesOf, type Fields, fieldGroups, firstOf } from './mail-report/fields.ts';
import { qmailRecipientsOf } from './mail-report/qmail.ts';

export type { RecipientStatus };

/** What an incoming message reports: RFC 3464 (and qmail's own form), RFC 5965, or nothing that is understood. */
export type MailReport =
  | { kind: 'delivery'; recipients: RecipientStatus[] }
  | { kind: 'complaint'; feedbackType: string; recipients: string[] }
  | { kind: 'none' }
  /** It says that it is a report, or is too broken to tell. */
  | { kind: 'unreadable' };

export type IncomingMail = {
  report: MailReport;
  /** Whom the message itself says it was delivered to, the surest first. */
  deliveredTo: string[];
  /** The Message-ID of the message that is reported about, without its angle brackets. */
  reportedMessageId: string | null;
};

const limits = { maxNestingDepth: 16, maxHeadersSize: 256 * 1024, maxRfc822NestingDepth: 0 };
/** The parser takes its time for each line, and no report comes after so many. */
const maxLines = 5_000;
const nothing = { deliveredTo: [], reportedMessageId: null };

/**
 * Reads a message, or its beginning: reports come before the message that they are about. Never throws: whatever
 * strangers send, it is a report or it is not.
 */
export async function readMail(raw: Uint8Array): Promise<IncomingMail> {
  let mail: Email;
  try {
    mail = await PostalMime.parse(firstLines(raw), {
      ...limits,
      forceRfc822Attachments: true,
      attachmentEncoding: 'utf8',
    });
  } catch {
    return { report: { kind: 'unreadable' }, ...nothing };
  }
  const original = originalHeaders(mail);
  return {
    report: reportIn(mail, original),
    deliveredTo: ['delivered-to', 'x-original-to', 'to'].flatMap((name) =>
      mail.headers.filter(({ key }) => key === name).flatMap(({ value }) => mentionedIn(value)),
    ),
    reportedMessageId: /^<([^<>\s]+)>$/.exec(firstOf(original, 'message-id') ?? '')?.[1] ?? null,
  };
}

function firstLines(raw: Uint8Array): Uint8Array {
  let end = -1;
  for (let line = 0; line < maxLines; line += 1) {
    end = raw.indexOf(0x0a, end + 1);
    if (end < 0) return raw;
  }
  return raw.subarray(0, end + 1);
}

function reportIn(mail: Email, original: Fields | undefined): MailReport {
  const isReport = /^\s*multipart\/report\b/i.test(
    mail.headers.find(({ key }) => key === 'content-type')?.value ?? '',
  );
  if (!isReport) {
    const recipients = qmailRecipientsOf(mail.text ?? '');
    return recipients.length > 0 ? { kind: 'delivery', recipients } : { kind: 'none' };
  }
  const status = partOf(mail, ['message/delivery-status', 'message/global-delivery-status']);
  if (status !== null) {
    const recipients = recipientsOf(status, (mail.text ?? '').slice(0, 16_000));
    return recipients.length > 0 ? { kind: 'delivery', recipients } : { kind: 'unreadable' };
  }
  const [feedback] = fieldGroups(partOf(mail, ['message/feedback-report']) ?? '');
  const feedbackType = firstOf(feedback, 'feedback-type')?.toLowerCase();
  if (!feedback || !feedbackType) return { kind: 'unreadable' };
  const named = [
    ...(feedback.get('original-rcpt-to') ?? []).flatMap(addressesOf),
    ...(original?.get('to') ?? []).flatMap(mentionedIn),
  ];
  return { kind: 'complaint', feedbackType, recipients: [...new Set(named)] };
}

/** The headers of the message that is reported about. */
function originalHeaders(mail: Email): Fields | undefined {
  const types = ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers'];
  const part = partOf(mail, types);
  return part === null ? undefined : fieldGroups(part.trimStart().split(/\r?\n\r?\n/, 1)[0]!)[0];
}

function partOf(mail: Email, types: string[]): string | null {
  const part = mail.attachments.find(({ mimeType }) => types.includes(mimeType));
  return typeof part?.content === 'string' ? part.content : null;
}

/** Addresses in a header field, without minding its grammar. */
function mentionedIn(value: string): string[] {
  return (value.slice(0, 10_000).match(/[^\s<>(),;:"]{1,64}@[^\s<>(),;:"]{1,255}/g) ?? []).slice(0, 50);
}
