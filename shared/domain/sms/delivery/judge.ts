import { fromNow, now } from '../../../common/clock.ts';
import { atMostEvery, logger } from '../../../common/logger.ts';
import { fitting } from '../../../db/client/outside-text.ts';
import type { SmsRecord } from '../../../db/sms/messages.ts';
import type { SmsReason } from '../../../schemas/sms/sms.ts';
import type { PartTaken, Submission } from '../../../transports/sms.ts';
import { nextTry } from '../../work/retry-times.ts';
import { advance } from '../record.ts';
import { staysCharged } from '../stays-charged.ts';
import * as admission from './admission.ts';
import { gatewayAway, uncertain } from './reasons.ts';
import { isPast, retriesSince } from './times.ts';

/** Decides what happens to a message after an attempt to hand it over. */

/** Thousands of texts may wait for a gateway that takes none. */
const mayWarn = atMostEvery(10_000);

/** The outcome of a message. `isGivenBack`: no gateway has the message, so its cost is refunded. */
export type SmsJudgement = {
  message: SmsRecord;
  isGivenBack: boolean;
  metric: string;
  /** The gateway that the message waits for, if this alone is why it is tried again later. */
  waitsFor?: string;
  /** The parts that the gateway has accepted, if the text has several parts. */
  parts?: PartTaken[];
};

/** `isAlone`: the message has a job of its own, which may come again for the next try. */
export function judge(
  message: SmsRecord,
  gateway: string,
  submission: Submission,
  isAlone: boolean,
): SmsJudgement {
  const { parts = [] } = submission;
  if (parts.length === 0) return judgeWhole(message, gateway, submission, isAlone);
  const taken = { ...message, gateway, isPartlyTaken: true };
  return { ...judgeWhole(taken, gateway, submission, isAlone), parts };
}

function judgeWhole(
  message: SmsRecord,
  gateway: string,
  submission: Submission,
  isAlone: boolean,
): SmsJudgement {
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
      // The gateway is stored, because reports tell which gateway has refused the message.
      return fail(
        { ...message, gateway },
        {
          category: 'rejected',
          code: fitting('sms_messages.reason_code', submission.code),
          description: fitting('sms_messages.reason_description', submission.detail),
          retryable: submission.retryable,
        },
      );
    case 'unavailable':
      logger.warn({ smsId: message.id, detail: submission.detail }, 'a gateway did not say what it did');
      if (message.uncertainCount > 0) return fail(message, uncertain);
      // The next try goes to this gateway, because only the gateway that may have the message can know it again.
      return retry(
        { ...message, gateway, uncertainCount: message.uncertainCount + 1 },
        { reason: uncertain, isAlone, dueAt: nextTry(0, now()) },
      );
    case 'later':
      logger[submission.waitsForTurn || (submission.isPutOff && !mayWarn()) ? 'debug' : 'warn'](
        { smsId: message.id, detail: submission.detail },
        'a gateway takes no messages',
      );
      return {
        ...retry(message, {
          reason: gatewayAway,
          isAlone,
          dueAt:
            submission.afterMs === undefined ? nextTry(message.retries, now()) : fromNow(submission.afterMs),
          waitsForTurn: submission.waitsForTurn,
        }),
        ...(submission.isPutOff && { waitsFor: gateway }),
      };
  }
}

export function fail(message: SmsRecord, reason: SmsReason): SmsJudgement {
  const isGivenBack = !staysCharged({ ...message, isSent: message.sentAt !== null });
  return { message: advance(message, 'failed', { at: now(), reason }), isGivenBack, metric: 'failed' };
}

type Retry = {
  reason: SmsReason;
  isAlone: boolean;
  dueAt: Date;
  /** The gateway takes other texts. The time for retries does not begin by that, nor end. */
  waitsForTurn?: boolean | undefined;
};

function retry(message: SmsRecord, { reason, isAlone, dueAt, waitsForTurn = false }: Retry): SmsJudgement {
  const since = retriesSince(message, now());
  if (!waitsForTurn && isPast(since, dueAt)) return fail(message, reason);
  return {
    message: {
      ...message,
      triedAt: waitsForTurn ? message.triedAt : since,
      retries: message.retries + 1,
      dueAt,
      parked: !isAlone || !admission.keepsJob(message.lane, message.workspaceId, dueAt),
    },
    isGivenBack: false,
    metric: 'retried',
  };
}
