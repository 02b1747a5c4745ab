import { now, nowForAll } from '../clock.ts';
import { config } from '../config.ts';
import type { EmailKind, EmailReason, EmailRecord } from '../db/emails.ts';
import type { NewEventRecord } from '../db/events.ts';
import * as system from '../db/system/emails.ts';
import { signMessage } from '../formats/dkim.ts';
import { type Mailbox, parseMailbox } from '../formats/email-address.ts';
import { composeMessage } from '../formats/mime-message.ts';
import { verdictOf } from '../formats/smtp-reply.ts';
import { logger } from '../logger.ts';
import { count } from '../metrics.ts';
import { isNear } from '../queue.ts';
import { type HandOverResult, handOver } from '../transports/smtp.ts';
import { findSigningDomain, type SigningDomain } from './email-domains.ts';
import { advance, eventOf } from './email-record.ts';
import * as events from './events.ts';
import { systemWorkspaceId } from './workspaces.ts';
import { writeOutcome } from './write-outcome.ts';

/** What a job must do next: nothing more, or come back at a time. */
export type Outcome = 'done' | 'dropped' | { retryAt: Date };

const minuteMs = 60_000;
const retryMinutes = [1, 5, 15, 30, 60];
const giveUpMinutes: Record<EmailKind, number> = {
  // A one-time code that arrives the next day is a fault, not a delivery.
  authentication: 30,
  transactional: 48 * 60,
  marketing: 48 * 60,
};
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

/** The same bytes at every attempt: all times in it are the email's own (contract §7). */
async function compose(
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

type Judgement = { email: EmailRecord; events: NewEventRecord[]; isFinal: boolean; metric: string };

function judge(email: EmailRecord, result: HandOverResult): Judgement {
  switch (result.kind) {
    case 'accepted':
      return accept(email);
    case 'uncertain':
      return email.uncertainCount > 0
        ? fail(email, uncertain)
        : retry(
            { ...email, uncertainCount: email.uncertainCount + 1 },
            'the relay did not answer',
            uncertain,
          );
    case 'transport_fault':
      alarm(result.reason, result.detail);
      return retry(email, result.detail, { ...giveUp, code: `relay_${result.reason}` });
    case 'refused': {
      const verdict = verdictOf({ ...result, text: result.reply });
      const reason: EmailReason = {
        category: verdict.category,
        code: verdict.code,
        description: result.reply.slice(0, 1000),
        retryable: verdict.retryable,
      };
      return verdict.outcome === 'fail'
        ? fail(email, reason)
        : retry(email, result.reply, { ...reason, category: 'soft_bounce' });
    }
  }
}

const alarmEveryMs = 10_000;
let nextAlarmAt = 0;

/** The relay's fault is everybody's, so it is said once in a while and not once an email. */
function alarm(reason: string, detail: string): void {
  count('smtp_faults', { reason });
  if (performance.now() < nextAlarmAt) return;
  nextAlarmAt = performance.now() + alarmEveryMs;
  logger.error({ reason, detail }, 'the relay cannot be used; emails wait');
}

function accept(email: EmailRecord): Judgement {
  const sent = advance(email, 'sent', { at: now() });
  if (config.EMAIL_DELIVERED_ON !== 'accept')
    return { email: sent, events: [eventOf(sent)], isFinal: true, metric: 'sent' };
  const delivered = advance(sent, 'delivered', { at: sent.updatedAt });
  return { email: delivered, events: [eventOf(sent), eventOf(delivered)], isFinal: true, metric: 'sent' };
}

function fail(email: EmailRecord, reason: EmailReason): Judgement {
  const failed = advance(email, 'failed', { at: now(), reason });
  return { email: failed, events: [eventOf(failed)], isFinal: true, metric: 'failed' };
}

/** Waits for the next attempt, or fails with `reason` when the time for this kind of email is up. */
function retry(email: EmailRecord, detail: string, reason: EmailReason): Judgement {
  const waitMinutes = retryMinutes[Math.min(email.retries, retryMinutes.length - 1)]!;
  const dueAt = new Date(now().getTime() + waitMinutes * minuteMs);
  const since = email.scheduledAt ?? email.createdAt;
  if (dueAt.getTime() > since.getTime() + giveUpMinutes[email.kind] * minuteMs) return fail(email, reason);
  logger.debug({ emailId: email.id, detail, dueAt }, 'email waits for another attempt');
  const waiting = {
    ...email,
    retries: email.retries + 1,
    dueAt,
    parked: !isNear(dueAt),
  };
  return { email: waiting, events: [], isFinal: false, metric: 'retried' };
}

async function finish(token: Buffer, before: EmailRecord, judgement: Judgement): Promise<Outcome> {
  const { email } = judgement;
  // While a worker holds it, an email is due at the end of the lease.
  const isOurs = await writeOutcome(before.dueAt!, () => system.finishEmail({ ...judgement, token }));
  // The lease had ended and somebody else has the email now: what we know is no longer wanted.
  if (!isOurs) return 'dropped';
  count(`emails_${judgement.metric}`, { kind: before.kind });
  if (judgement.events.length > 0) events.wakeRelay();
  return email.dueAt ? { retryAt: email.dueAt } : 'done';
}

const uncertain: EmailReason = {
  category: 'failed',
  code: 'delivery_uncertain',
  description: 'The relay’s answer was lost twice; the email may have arrived',
  retryable: true,
};
const crashes: EmailReason = {
  category: 'failed',
  code: 'internal_error',
  description: 'The email could not be processed',
  retryable: true,
};
const suppressed: EmailReason = {
  category: 'suppressed',
  code: 'recipient_suppressed',
  description: 'The recipient was on the suppression list when the email was due',
  retryable: false,
};
const notVerified: EmailReason = {
  category: 'rejected',
  code: 'domain_not_verified',
  description: 'The sending domain was not verified when the email was due',
  retryable: true,
};
const giveUp: EmailReason = {
  category: 'soft_bounce',
  code: 'relay_unavailable',
  description: 'The relay could not be used for too long',
  retryable: true,
};
