import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import type { EmailKind, EmailReason, EmailRecord } from '../../db/emails.ts';
import type { NewEventRecord } from '../../db/events.ts';
import { verdictOf } from '../../formats/smtp-reply.ts';
import { logger } from '../../logger.ts';
import { count } from '../../metrics.ts';
import { isNear } from '../../queue.ts';
import type { HandOverResult } from '../../transports/smtp.ts';
import { advance, eventOf } from '../email-record.ts';
import { giveUp, uncertain } from './reasons.ts';

const minuteMs = 60_000;
const retryMinutes = [1, 5, 15, 30, 60];
const giveUpMinutes: Record<EmailKind, number> = {
  // A one-time code that arrives the next day is a fault, not a delivery.
  authentication: 30,
  transactional: 48 * 60,
  marketing: 48 * 60,
};
/** What becomes of an email, and the events that tell of it. */
export type Judgement = { email: EmailRecord; events: NewEventRecord[]; isFinal: boolean; metric: string };

export function judge(email: EmailRecord, result: HandOverResult): Judgement {
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

function accept(email: EmailRecord): Judgement {
  const sent = advance(email, 'sent', { at: now() });
  if (config.EMAIL_DELIVERED_ON !== 'accept')
    return { email: sent, events: [eventOf(sent)], isFinal: true, metric: 'sent' };
  const delivered = advance(sent, 'delivered', { at: sent.updatedAt });
  return { email: delivered, events: [eventOf(sent), eventOf(delivered)], isFinal: true, metric: 'sent' };
}

export function fail(email: EmailRecord, reason: EmailReason): Judgement {
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

const alarmEveryMs = 10_000;
let nextAlarmAt = 0;

/** The relay's fault is everybody's, so it is said once in a while and not once an email. */
function alarm(reason: string, detail: string): void {
  count('smtp_faults', { reason });
  if (performance.now() < nextAlarmAt) return;
  nextAlarmAt = performance.now() + alarmEveryMs;
  logger.error({ reason, detail }, 'the relay cannot be used; emails wait');
}
