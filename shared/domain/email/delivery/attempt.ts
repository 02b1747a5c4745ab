import { fromNow, now, nowForAll } from '../../../common/clock.ts';
import { count } from '../../../common/metrics.ts';
import { config } from '../../../config/config.ts';
import * as system from '../../../db/email/emails.system.ts';
import type { EmailKind, EmailReason, EmailRecord } from '../../../db/email/emails.ts';
import { type Mailbox, parseMailbox } from '../../../formats/email/address.ts';
import { checkHandOver, type HandOver, type HandOverPermit, handOver } from '../../../transports/smtp.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { obstacleTo } from '../../work/obstacles.ts';
import { prepareAndHandOver } from '../../work/write-outcome.ts';
import * as admission from '../admission/admission.ts';
import type { SigningDomain } from '../domains/domains.ts';
import { makeReturnPath } from '../mail-reports/return-path.ts';
import { findSending } from '../senders.ts';
import { forgetAttachments } from './attachments.ts';
import { compose } from './compose.ts';
import { finish } from './finish.ts';
import { fail, judge } from './judge.ts';
import * as reasons from './reasons.ts';
import { relayCircuitBreaker } from './relay-circuit-breaker.ts';
import { isPast, retriesSince } from './times.ts';

type AttemptOptions = { lane?: EmailKind; isStalled?: boolean; permit?: HandOverPermit };

/**
 * Makes one attempt to hand an email over: claims, composes, signs, speaks to the relay and stores the outcome. If the
 * job is lost on the way, the sweep finds the email when the lease has ended. `lane`: left out for its kind's lane.
 * `isStalled`: the job was another worker's before.
 */
export async function attempt(
  emailId: string,
  { lane, isStalled = false, permit }: AttemptOptions = {},
): Promise<WorkOutcome> {
  const until = fromNow(config.LEASE_SECONDS * 1000);
  const claimed = await system.claimEmail({
    id: emailId,
    at: nowForAll(),
    until,
    onlyFree: isStalled,
    ...(lane && { lane }),
  });
  if (!claimed) return 'dropped';
  const { record, token } = claimed;
  const outcome = await prepareAndHandOver(
    record,
    {
      work: 'email',
      leaseSeconds: config.LEASE_SECONDS,
      undo: (before) => system.updateClaimUndone({ id: emailId, token, ...before }),
      giveUp: (next) =>
        isPast(retriesSince(record, now()), record.kind, next)
          ? finish(token, record, fail(record, reasons.crashes))
          : null,
    },
    () => prepare(emailId, claimed, lane ?? record.kind, permit),
  );
  if (outcome === 'done' && claimed.body?.attachmentCount) await forgetAttachments(record);
  return outcome;
}

/** Returns a function that hands the email over, or the outcome where it is not handed over. */
async function prepare(
  emailId: string,
  claimed: system.ClaimedEmail,
  lane: EmailKind,
  permit: HandOverPermit | undefined,
): Promise<WorkOutcome | (() => Promise<WorkOutcome | null>)> {
  const { record, body, token, isLimited } = claimed;

  // The worker before us died while it spoke to the relay, so the email may have gone out (API decisions §7).
  const email = record.handoverAt ? { ...record, uncertainCount: record.uncertainCount + 1 } : record;
  const end = (reason: EmailReason) => finish(token, email, fail(email, reason));
  const isOver = (since: Date) => isPast(since, email.kind, now());
  const obstacle = obstacleTo<EmailReason>(email, { ...claimed, work: 'email', reasons, isPast: isOver });
  if (obstacle) return obstacle === 'held_back' ? holdBack(emailId, token) : end(obstacle);

  const sender = parseMailbox(email.sender, { allowDisplayName: true });
  const recipient = parseMailbox(email.recipient, { allowDisplayName: true });
  if (!sender.ok || !recipient.ok || !body) return end(reasons.notVerified);
  const sending = await findSending(email.workspaceId, sender.mailbox, recipient.mailbox);
  if (!sending.maySend)
    return end(sending.because === 'recipient' ? reasons.notTestRecipient : reasons.notVerified);
  const { domain } = sending;

  const message = await compose(email, body, sender.mailbox, recipient.mailbox, domain);
  if (!message) return end(reasons.incomplete);
  const handedOver: HandOver = {
    envelopeFrom: returnPathOf(email, sender.mailbox, domain),
    envelopeTo: recipient.mailbox.address,
    message,
    // Without a return path of ours each success report would go to the sender's own mailbox, and never to us.
    requestDsn: config.EMAIL_DELIVERED_ON === 'dsn' && config.RETURN_PATH_DOMAIN !== undefined,
    lane,
    owner: email.workspaceId,
  };
  // Check before the hand-over is noted as started: after that, an error means that the email may have gone out.
  checkHandOver(handedOver);
  // An email counts against the limits only once it is composed. An email that cannot be composed is tried many times,
  // and would use them up.
  const countedAt = isLimited ? await admission.takeTurn(email) : null;
  if (isLimited && !countedAt) return holdBack(emailId, token);
  if (!(await system.updateHandoverStarted({ id: emailId, lane, token, at: now() }))) return 'dropped';
  return async () => {
    const result = await handOver(handedOver, permit);
    if (result.kind === 'busy' && countedAt) await admission.giveTurnBack(email.workspaceId, countedAt);
    if (result.kind === 'busy' && !isPast(retriesSince(email, now()), email.kind, now())) {
      count('emails_put_off');
      return null;
    }
    relayCircuitBreaker.note(email.workspaceId, result);
    return finish(token, email, judge(email, result));
  };
}

/** The workspace may not send now: the email waits in its row until it is admitted again. */
async function holdBack(emailId: string, token: Buffer): Promise<WorkOutcome> {
  await system.updateHeldBack({ id: emailId, token, at: now() });
  count('emails_held_back');
  return 'dropped';
}

/** Returns the address that reports about an email go to: ours, or its sender's where we receive no reports. */
function returnPathOf(email: EmailRecord, sender: Mailbox, domain: SigningDomain | null): string {
  if (!config.RETURN_PATH_DOMAIN) return sender.address;
  return makeReturnPath(email.id, domain?.bounceHost ?? config.RETURN_PATH_DOMAIN);
}
