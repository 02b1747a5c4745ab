import { now } from '../../../common/clock.ts';
import { atMostEvery, logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { config } from '../../../config/config.ts';
import { fitting } from '../../../db/client/outside-text.ts';
import type { EmailReason, EmailRecord } from '../../../db/email/emails.ts';
import type { NewEventRecord } from '../../../db/events/events.ts';
import type { HandOverResult } from '../../../transports/smtp.ts';
import { nextTry } from '../../work/retry-times.ts';
import * as admission from '../admission/admission.ts';
import { readReply } from '../mail-reports/judge.ts';
import { advance, eventOf, remark } from '../record.ts';
import { crashes, giveUp, relayFault, unanswered, uncertain } from './reasons.ts';
import { isPast, retriesSince } from './times.ts';

/** Decides what happens to an email after an attempt to hand it over. */

/** The outcome of an email, and the events that report it. */
export type EmailJudgement = {
  email: EmailRecord;
  events: NewEventRecord[];
  metric: string;
  /** The server's reply that the mailbox does not exist: nothing more is to be sent there (API decisions §7). */
  bounce?: string;
};

export function judge(email: EmailRecord, result: HandOverResult): EmailJudgement {
  switch (result.kind) {
    case 'accepted':
      return accept(email);
    case 'uncertain':
      return email.uncertainCount > 0
        ? fail(email, uncertain)
        : retry({ ...email, uncertainCount: email.uncertainCount + 1 }, 'the relay did not answer', {
            delay: unanswered,
            end: uncertain,
          });
    case 'unread':
      logger.error(
        { emailId: email.id, detail: result.detail },
        'the message to send could not be read completely',
      );
      return retry(email, result.detail, { delay: crashes, end: crashes });
    // An email that is put off comes here when its time is up.
    case 'busy':
      return fail(email, giveUp);
    case 'transport_fault': {
      alarm(result);
      const code = `relay_${result.reason}`;
      return retry(email, result.detail, { delay: { ...relayFault, code }, end: { ...giveUp, code } });
    }
    case 'refused': {
      const { verdict, reason } = readReply({ ...result, text: result.reply });
      if (verdict.suppress)
        return { ...fail(email, reason), bounce: fitting('suppressions.reason', result.reply) };
      return verdict.outcome === 'fail'
        ? fail(email, reason)
        : retry(email, result.reply, softBounce(reason));
    }
  }
}

function accept(email: EmailRecord): EmailJudgement {
  const sent = advance(email, 'sent', { at: now() });
  if (config.EMAIL_DELIVERED_ON !== 'accept') return { email: sent, events: [eventOf(sent)], metric: 'sent' };
  const delivered = advance(sent, 'delivered', { at: sent.updatedAt });
  return { email: delivered, events: [eventOf(sent), eventOf(delivered)], metric: 'sent' };
}

export function fail(email: EmailRecord, reason: EmailReason): EmailJudgement {
  const failed = advance(email, 'failed', { at: now(), reason });
  return { email: failed, events: [eventOf(failed)], metric: 'failed' };
}

/** `delay`: the reason of this attempt; `end`: the reason to fail with when there is no time for another one. */
type RetryReasons = { delay: EmailReason; end: EmailReason };

function softBounce(reason: EmailReason): RetryReasons {
  const bounce = { ...reason, category: 'soft_bounce' as const };
  return { delay: bounce, end: bounce };
}

/** Makes the email wait for the next attempt, or fail when the time for its kind is up. */
function retry(email: EmailRecord, detail: string, { delay, end }: RetryReasons): EmailJudgement {
  const time = now();
  const dueAt = nextTry(email.retries, time);
  if (isPast(retriesSince(email, time), email.kind, dueAt)) return fail(email, end);
  logger.debug({ emailId: email.id, detail, dueAt }, 'email waits for another attempt');
  const waiting = {
    ...email,
    retries: email.retries + 1,
    dueAt,
    parked: !admission.keepsJob(email.kind, email.workspaceId, dueAt),
  };
  if (email.retries > 0) return { email: waiting, events: [], metric: 'retried' };
  const delayed = remark(waiting, { at: time, reason: delay });
  return { email: delayed, events: [eventOf(delayed, 'email.delayed')], metric: 'retried' };
}

const mayAlarm = atMostEvery(10_000);

/** Logs a fault of the relay once in a while, and not for each email: the fault is the same for all of them. */
function alarm({ at, reason, detail }: Extract<HandOverResult, { kind: 'transport_fault' }>): void {
  count('smtp_faults', { reason });
  if (!mayAlarm()) return;
  const text =
    at === 'session' ? 'the relay cannot be used; emails wait' : 'the relay has failed at an email';
  logger.error({ reason, detail }, text);
}
