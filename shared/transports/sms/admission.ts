import { createCircuitBreaker } from '../../common/circuit-breaker.ts';
import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { config } from '../../config/config.ts';
import type { Submission } from './gateway.ts';
import { sharedTokenBucket } from './token-bucket.ts';

// A hand-over that is given up while its text still waits would send it although another attempt does so too. Hence
// everything before the writing has one deadline, the answer another, and both end before SMS_TIMEOUT_SECONDS do.
export const waitMs = () => 0.35 * config.SMS_TIMEOUT_SECONDS * 1000;
export const answerMs = () => 0.6 * config.SMS_TIMEOUT_SECONDS * 1000;

const [firstThrottleMs, longestThrottleMs] = [1_000, 30_000];
/** A gateway may name a time of its own, up to this. */
const longestNamedMs = 3_600_000;
/** A text looks again after this time at most: another gateway may be up by then. */
const longestWaitMs = 60_000;
/** A text of a gateway that does not answer looks again after this time at least. */
const leastRetryMs = 5_000;
const pauseTimes = { firstPauseMs: 1_000, longestPauseMs: 30_000, longestWaitMs: 0 };

type GatewayLimits = {
  name: string;
  /** Texts that may be on their way to the gateway at once. */
  window: number;
  /** Over all processes. */
  perSecond?: number | undefined;
};

/**
 * Admission of texts to one gateway, by this process. A gateway that does not answer, asks for fewer texts or has
 * enough in hand is not spoken to: its texts are told to come later, and wait in their rows.
 */
export function createAdmission({ name, window, perSecond }: GatewayLimits) {
  const breaker = createCircuitBreaker(pauseTimes, {
    paused: (pauseMs) => {
      count('sms_gateway_pauses', { gateway: name });
      logger.error(
        { gateway: name, pauseSeconds: pauseMs / 1000 },
        'a gateway does not answer, or puts off all texts; it is tried again after a pause',
      );
    },
    over: () => logger.warn({ gateway: name }, 'a gateway answers again'),
  });
  const bucket = sharedTokenBucket(name, perSecond);
  let throttleMs = 0;
  let throttledUntil = 0;
  let inHand = 0;

  /** Hands the text over where nothing speaks against it. `prepare`: what has to be there first, or why it is not. */
  async function admit(
    hand: () => Promise<Submission>,
    prepare: () => Promise<Submission | null> = async () => null,
  ): Promise<Submission> {
    const throttledMs = throttledUntil - performance.now();
    if (throttledMs > 0) return later('The gateway has asked for fewer messages', throttledMs);
    if (inHand >= Math.max(window, 0.75 * config.SMS_CONCURRENCY))
      return later('The gateway has enough in hand', 500);
    inHand += 1;
    try {
      const unready = await prepare();
      if (unready) return unready;
      const pass = await breaker.pass(0);
      // Its texts are many, and each look takes from what others are sent with.
      if ('waitMs' in pass) return later('The gateway does not answer', Math.max(leastRetryMs, pass.waitMs));
      try {
        return await hand();
      } finally {
        pass.leave();
      }
    } finally {
      inHand -= 1;
    }
  }

  /**
   * The gateway wants fewer texts, for so long where it says so itself. Texts that are under way when the first is
   * refused say nothing new.
   */
  function throttle(namedMs?: number): void {
    const time = performance.now();
    if (time < throttledUntil) return;
    throttleMs = Math.min(longestThrottleMs, throttleMs === 0 ? firstThrottleMs : throttleMs * 2);
    throttledUntil = time + Math.min(longestNamedMs, namedMs ?? throttleMs);
  }

  return {
    admit,
    throttle,
    /** How long a text waits that the gateway does not take now. */
    throttleMs: () =>
      Math.max(throttleMs || firstThrottleMs, Math.min(longestWaitMs, throttledUntil - performance.now())),
    /** A text was taken, so the next refusal is a new one. */
    tookOne: () => {
      if (performance.now() >= throttledUntil) throttleMs = 0;
    },
    /** Whether the gateway as a whole is at fault: it gave no answer, or puts texts off for a reason of its own. */
    note: breaker.note,
    takeTurn: bucket.take,
    inHand: () => inHand,
    isOpen: () => !breaker.holdsBack() && performance.now() >= throttledUntil,
  };
}

export function later(detail: string, afterMs: number): Submission & { kind: 'later' } {
  const waitMs = Math.min(longestWaitMs, Math.max(200, afterMs));
  // Not all of them at one moment.
  return { kind: 'later', detail, afterMs: Math.round(waitMs * (1 + Math.random() / 4)) };
}
