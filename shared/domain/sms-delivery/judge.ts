import { now } from '../../clock.ts';
import { fitting } from '../../db/client/outside-text.ts';
import type { SmsRecord } from '../../db/sms-messages.ts';
import { logger } from '../../logger.ts';
import { isNear } from '../../queue.ts';
import type { SmsReason } from '../../schemas/sms.ts';
import type { Submission } from '../../transports/sms.ts';
import { nextTry } from '../retry-times.ts';
import { advance } from '../sms-record.ts';
import { blocked, gatewayAway, uncertain } from './reasons.ts';

const minuteMs = 60_000;
const giveUpMs = 48 * 60 * minuteMs;

/** What becomes of a message. `isGivenBack`: no gateway has it, so what it cost goes back. */
export type Judgement = { message: SmsRecord; isGivenBack: boolean; metric: string };

export function judge(message: SmsRecord, gateway: string, submission: Submission): Judgement {
  switch (submission.kind) {
    case 'accepted': {
      const sent = advance(message, 'sent', { at: now() });
      return {
        message: { ...sent, gateway, gatewayReference: submission.reference },
        isGivenBack: false,
        metric: 'sent',
      };
    }
    case 'refused':
      return fail(message, {
        category: 'rejected',
        code: fitting('sms_messages.reason_code', submission.code),
        description: fitting('sms_messages.reason_description', submission.detail),
        retryable: submission.retryable,
      });
    case 'unavailable':
      logger.warn({ smsId: message.id, detail: submission.detail }, 'a gateway did not say what it did');
      if (message.uncertainCount > 0) return fail(message, uncertain);
      return retry({ ...message, uncertainCount: message.uncertainCount + 1 }, uncertain);
    case 'later':
      logger.warn({ smsId: message.id, detail: submission.detail }, 'a gateway takes no messages');
      return retry(message, gatewayAway);
  }
}

export function fail(message: SmsRecord, reason: SmsReason): Judgement {
  // Where it may have arrived it has been paid for.
  const isGivenBack = message.uncertainCount === 0;
  return { message: advance(message, 'failed', { at: now(), reason }), isGivenBack, metric: 'failed' };
}

/** The operator lets the workspace send no more: the message looks again each minute, for 48 hours. */
export function waitForUnblocking(message: SmsRecord): Judgement {
  const time = now().getTime();
  if (time > dueSince(message) + giveUpMs) return fail(message, blocked);
  const waiting = { ...message, retries: message.retries + 1, dueAt: new Date(time + minuteMs) };
  return { message: waiting, isGivenBack: false, metric: 'held_back' };
}

function retry(message: SmsRecord, reason: SmsReason): Judgement {
  const dueAt = nextTry(message.retries, now());
  if (dueAt.getTime() > dueSince(message) + giveUpMs) return fail(message, reason);
  return {
    message: { ...message, retries: message.retries + 1, dueAt, parked: !isNear(dueAt) },
    isGivenBack: false,
    metric: 'retried',
  };
}

function dueSince(message: SmsRecord): number {
  return (message.scheduledAt ?? message.createdAt).getTime();
}
