import { count } from '../../../common/metrics.ts';
import { config } from '../../../config/config.ts';
import { isId } from '../../../formats/ids.ts';
import { type Applied, apply } from './apply.ts';
import { readMail, readOfReporter } from './read.ts';
import { readReturnPath } from './return-path.ts';

export { headOf, largestMailBytes } from './head.ts';

/** The outcome of an incoming message; `no_report`: an automatic answer, a stray letter. */
export type ReportOutcome = Applied | 'no_report' | 'unreadable';

const feedbackMailboxes = ['fbl', 'abuse'];

/** Returns whether we accept mail to an address: the return path of one of our emails, or a mailbox for complaints. */
export function takesMailFor(address: string): boolean {
  return readReturnPath(address) !== null || isFeedbackAddress(address);
}

/**
 * Returns whether an address takes complaints (`fbl@`, `abuse@`). Other mail there is refused, so that none vanishes.
 */
export function isFeedbackAddress(address: string): boolean {
  const [local, host] = address.toLowerCase().split('@');
  const ours = config.RETURN_PATH_DOMAIN;
  return feedbackMailboxes.includes(local ?? '') && (ours === undefined || host === ours);
}

/** Where a message came from, as far as it is known. */
type Envelope = {
  recipients: readonly string[];
  /** The network of the server that handed it over: its messages take turns with those of others. */
  sender: string;
};

/**
 * Takes an incoming message, or its beginning, and applies what it reports. When this returns, all of it is committed.
 * Throws validation_failed for a message that can never be read; after any other error, the message must be sent
 * again.
 */
export async function receive(raw: Buffer, { recipients, sender }: Envelope): Promise<ReportOutcome> {
  const { report, deliveredTo, reportedMessageId, signatures } = await readMail(sender, raw);
  const outcome = await outcomeOf();
  count('email_reports', { outcome });
  return outcome;

  async function outcomeOf(): Promise<ReportOutcome> {
    if (report.kind === 'none') return 'no_report';
    if (report.kind === 'unreadable') return 'unreadable';
    const tokens = idsIn(recipients) ?? idsIn(deliveredTo) ?? idsIn(raw.toString('latin1').match(anywhere));
    if (tokens) return tokens.length === 1 ? apply(tokens[0]!, report, 'token') : 'unknown_email';
    if (report.kind !== 'complaint') return 'unknown_email';
    const signed = await readOfReporter(sender, raw, signatures);
    const vouchedFor = emailIdOf(signed?.reportedMessageId);
    if (signed?.report.kind === 'complaint' && vouchedFor)
      return apply(vouchedFor, signed.report, 'signature');
    const known = emailIdOf(reportedMessageId);
    return known ? apply(known, report, 'none') : 'unknown_email';
  }
}

/** A return path in the report or in the message that it is about. */
const anywhere = /bounce\+[0-9a-z]{52}@[a-z0-9.-]{1,253}/gi;

/** Returns the emails whose return path is among the addresses; null: none. More than one does not name an email. */
function idsIn(addresses: readonly string[] | null): string[] | null {
  const ids = new Set((addresses ?? []).slice(0, 50).flatMap((address) => readReturnPath(address) ?? []));
  return ids.size > 0 ? [...ids] : null;
}

/** Returns the email that a Message-ID names: every message goes out as `<{email id}@{domain of the sender}>`. */
function emailIdOf(messageId: string | null | undefined): string | null {
  const id = messageId?.split('@')[0];
  return isId('email', id) ? id : null;
}
