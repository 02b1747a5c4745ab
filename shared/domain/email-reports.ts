import { config } from '../config.ts';
import { isId } from '../formats/ids.ts';
import { readMail } from '../formats/mail-report.ts';
import { count } from '../metrics.ts';
import { type Applied, apply } from './email-reports/apply.ts';
import { readReturnPath } from './return-path.ts';

export { beginningOf, largestMailBytes } from './email-reports/beginning.ts';

/** What became of an incoming message; `no_report`: an automatic answer, a stray letter. */
export type ReportOutcome = Applied | 'no_report' | 'unreadable';

const feedbackMailboxes = ['fbl', 'abuse'];

/** Whether mail to this address is taken: the return path of one of our emails, or a mailbox for complaints. */
export function takesMailFor(address: string): boolean {
  return readReturnPath(address) !== null || isFeedbackAddress(address);
}

/** Complaints go to `fbl@` or `abuse@`; what comes there and is no report must not vanish, so it is refused. */
export function isFeedbackAddress(address: string): boolean {
  const [local, host] = address.toLowerCase().split('@');
  const ours = config.RETURN_PATH_DOMAIN?.toLowerCase();
  return feedbackMailboxes.includes(local ?? '') && (ours === undefined || host === ours);
}

/**
 * Takes an incoming message, or its beginning, and applies what it reports. When this returns, all of it is committed;
 * when it throws, the message is to come again. `recipients` are those of the envelope, as far as they are known.
 */
export async function receive(raw: Buffer, recipients: readonly string[]): Promise<ReportOutcome> {
  const { report, deliveredTo, reportedMessageId } = await readMail(raw);
  const outcome = await outcomeOf();
  count('email_reports', { outcome });
  return outcome;

  async function outcomeOf(): Promise<ReportOutcome> {
    if (report.kind === 'none') return 'no_report';
    if (report.kind === 'unreadable') return 'unreadable';
    const tokens = idsIn(recipients) ?? idsIn(deliveredTo) ?? idsIn(raw.toString('latin1').match(anywhere));
    if (tokens?.length === 1) return apply(tokens[0]!, report, report.kind === 'delivery');
    // An id cannot be guessed, but it is no secret: who names the recipient besides has seen the email.
    const known = tokens ? null : emailIdOf(reportedMessageId);
    return known && report.kind === 'complaint' ? apply(known, report, true) : 'unknown_email';
  }
}

/** A return path in the report or in the message that it is about. */
const anywhere = /bounce\+[0-9a-z]{52}@[a-z0-9.-]{1,253}/gi;

/** The emails whose return path is among the addresses; null: none. More than one is as good as none. */
function idsIn(addresses: readonly string[] | null): string[] | null {
  const ids = new Set((addresses ?? []).slice(0, 50).flatMap((address) => readReturnPath(address) ?? []));
  return ids.size > 0 ? [...ids] : null;
}

/** Every message that goes out is `<{email id}@{domain of the sender}>`. */
function emailIdOf(messageId: string | null): string | null {
  const id = messageId?.split('@')[0];
  return isId('email', id) ? id : null;
}
