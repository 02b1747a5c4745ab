import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../../common/clock.ts';
import { problem } from '../../../common/errors.ts';
import { config } from '../../../config/config.ts';
import { transaction } from '../../../db/client.ts';
import type { EmailRecord } from '../../../db/email/emails.ts';
import * as system from '../../../db/email/mail-reports.system.ts';
import { compareKey, parseMailbox } from '../../../formats/email/address.ts';
import type { MailReport } from '../../../formats/email/mail-report.ts';
import * as events from '../../events/events.ts';
import * as suppressions from '../../suppressions.ts';
import { eventOf } from '../record.ts';
import { judgeComplaint, judgeStatus, type ReportFinding } from './judge.ts';
import { isSoftBounce, noteSoftBounce } from './soft-bounces.ts';

export type Report = Extract<MailReport, { kind: 'delivery' | 'complaint' }>;

/** `unchanged`: the report was known already, or is of a kind that changes nothing. */
export type Applied = 'changed' | 'unchanged' | 'unknown_email' | 'other_recipient';

/**
 * The proof that the sender of a report has received the email: the token of the email's return path, or the signature
 * of a domain whose complaints the operator trusts. `none`: the report only names the email's id. Nobody can guess an
 * id, but it is not a secret.
 */
export type Proof = 'token' | 'signature' | 'none';

/**
 * Applies a report to an email: its status, its events and a suppression in one transaction. Throws
 * service_unavailable while the email is not yet stored as sent, so that the report is sent again.
 */
export async function apply(emailId: string, report: Report, proof: Proof): Promise<Applied> {
  for (let waitMs = 50, waitedMs = 0; ; waitedMs += waitMs, waitMs *= 2) {
    const applied = await transaction(() => applyOnce(emailId, report, proof));
    if (applied !== 'not_sent_yet') return applied;
    if (waitedMs >= config.INBOUND_WAIT_SECONDS * 1000)
      throw problem('service_unavailable', {
        detail: 'The email is still being sent. Send this report again later',
        retryAfterSeconds: 60,
      });
    await sleep(waitMs);
  }
}

async function applyOnce(emailId: string, report: Report, proof: Proof): Promise<Applied | 'not_sent_yet'> {
  const found = await system.findReportedEmailForUpdate(emailId);
  if (!found) return 'unknown_email';
  const at = now();
  let email = found;
  const follow = async (finding: ReportFinding): Promise<void> => {
    email = await write(email, finding);
  };

  if (report.kind === 'complaint') {
    // A complaint that names the recipient besides the id comes from somebody who has seen the email.
    if (proof === 'none' && !names(report.recipients, email)) return 'other_recipient';
    if (email.status === 'queued') return 'not_sent_yet';
    await follow(judgeComplaint(email, report, { at, isProven: proof !== 'none' }));
  } else {
    const statuses = report.recipients.filter(({ addresses }) => names(addresses, email));
    if (statuses.length === 0) return 'other_recipient';
    if (email.status === 'queued') return 'not_sent_yet';
    for (const status of statuses) {
      const isDelayKnown =
        status.action === 'delayed' && (await system.findDelayedEvent(email.workspaceId, email.id));
      await follow(judgeStatus(email, status, { at, isDelayKnown }));
    }
  }
  return email === found ? 'unchanged' : 'changed';
}

/** Stores a finding and returns the changed email. */
async function write(before: EmailRecord, { change, suppress }: ReportFinding): Promise<EmailRecord> {
  const { workspaceId } = before;
  if (change) {
    if (!(await system.updateReportedEmail(before, change.email)))
      throw new Error('The email changed while it was locked');
    await events.record(workspaceId, eventOf(change.email, change.event));
  }
  if (change && change.email.status !== before.status && isSoftBounce(change.email))
    await noteSoftBounce(change.email);
  if (suppress) await suppressions.addRecipient(before, suppress.scope, suppress.source, suppress.reason);
  return change?.email ?? before;
}

/** Returns whether one of the addresses is the recipient's. A forwarder may report the address that it forwarded to. */
function names(addresses: string[], email: EmailRecord): boolean {
  return addresses.some((address) => {
    const parsed = parseMailbox(address, { allowDisplayName: false, isSent: false });
    return compareKey(parsed.ok ? parsed.mailbox.address : address) === email.recipientKey;
  });
}
