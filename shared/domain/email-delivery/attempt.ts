import { now, nowForAll } from '../../clock.ts';
import { config } from '../../config.ts';
import * as system from '../../db/system/emails.ts';
import { parseMailbox } from '../../formats/email-address.ts';
import { handOver } from '../../transports/smtp.ts';
import { findSigningDomain } from '../email-domains.ts';
import type { Outcome } from '../outcome.ts';
import { systemWorkspaceId } from '../workspaces.ts';
import { compose } from './compose.ts';
import { finish } from './finish.ts';
import { fail, judge } from './judge.ts';
import { crashes, notVerified, suppressed, uncertain } from './reasons.ts';

/** Claims that ended in no outcome at all: something in this email kills the worker. */
const maxLostClaims = 10;

/**
 * One attempt to hand an email over: claim, compose, sign, speak to the relay, write down what became of it.
 * What is lost on the way is found by the sweep when the lease has ended.
 */
export async function attempt(emailId: string): Promise<Outcome> {
  const until = new Date(now().getTime() + config.LEASE_SECONDS * 1000);
  const claimed = await system.claimEmail({ emailId, at: nowForAll(), until });
  if (!claimed) return 'dropped';
  const { record, body, token, isSuppressed } = claimed;

  // The worker before us died while it spoke to the relay, so the email may have gone out (contract §7).
  const email = record.handoverAt ? { ...record, uncertainCount: record.uncertainCount + 1 } : record;
  if (email.uncertainCount > 1) return finish(token, email, fail(email, uncertain));
  if (email.claims - email.retries > maxLostClaims) return finish(token, email, fail(email, crashes));

  if (isSuppressed) return finish(token, email, fail(email, suppressed));

  const sender = parseMailbox(email.sender, { allowDisplayName: true });
  const recipient = parseMailbox(email.recipient, { allowDisplayName: false });
  const domain = sender.ok ? await findSigningDomain(email.workspaceId, sender.mailbox.domain) : null;
  // The operator chose the sender of the platform's own mail, and the relay may sign it.
  const maySend = domain !== null || email.workspaceId === systemWorkspaceId;
  if (!sender.ok || !recipient.ok || !maySend || !body) return finish(token, email, fail(email, notVerified));

  const message = await compose(email, body, sender.mailbox, recipient.mailbox.address, domain);
  if (!(await system.updateHandoverStarted({ emailId, token, at: now() }))) return 'dropped';
  const result = await handOver({
    envelopeFrom: sender.mailbox.address,
    envelopeTo: recipient.mailbox.address,
    message,
    requestDsn: config.EMAIL_DELIVERED_ON === 'dsn',
  });
  return finish(token, email, judge(email, result));
}
