import { createCircuitBreaker } from '../../common/circuit-breaker.ts';
import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { config } from '../../config/config.ts';
import type { Submission, TextMessage } from './gateway.ts';
import { sharedTokenBucket } from './token-bucket.ts';

// If we gave up a hand-over whose text still waits here, this attempt would send the text later, and the next attempt
// would send it too. So all steps before the write have one deadline and the answer has another; both end before
// SMS_TIMEOUT_SECONDS.
export const waitMs = () => 0.35 * config.SMS_TIMEOUT_SECONDS * 1000;
export const answerMs = () => 0.6 * config.SMS_TIMEOUT_SECONDS * 1000;

const [firstThrottleMs, longestThrottleMs] = [1_000, 30_000];
/** A gateway may ask for a time of its own, up to this one. */
const longestNamedMs = 3_600_000;
/** A text waits at most this long for its next try: another gateway may be up by then. */
const longestWaitMs = 60_000;
/**
 * While a gateway does not answer, its texts wait at least this long for their next tries. The texts of batches also come
 * one after the other: they are many, and each try takes capacity from the texts of others.
 */
const [leastRetryMs, betweenRetriesMs] = [5_000, 50];
/**
 * A gateway that has taken a text within this time takes texts, whatever this one has to wait for: our own limits, those
 * of the carrier, a line that was lost for a moment.
 */
const takesMs = 3_600_000;
const pauseTimes = { firstPauseMs: 1_000, longestPauseMs: 30_000, longestWaitMs: 0 };

type GatewayLimits = {
  name: string;
  /** Texts that may be on their way to the gateway at once. */
  window: number;
  /** Over all processes. */
  perSecond?: number | undefined;
};

/**
 * Creates the admission of texts to one gateway, for this process. While a gateway does not answer, asks for fewer
 * texts or has enough in hand, its texts get the result `later` and wait in their rows.
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
  // A process that has just begun cannot know, and must not give up what has waited long for its turn.
  let tookAt = performance.now();
  let inHand = 0;
  let lastRetryAt = 0;

  /** Returns how long the next text waits for a gateway that does not answer, in milliseconds. */
  function retryMs(lane: TextMessage['lane'], pauseMs: number): number {
    const time = performance.now();
    const soonest = time + Math.max(leastRetryMs, pauseMs);
    if (lane !== 'bulk') return soonest - time;
    lastRetryAt = Math.min(time + longestWaitMs, Math.max(soonest, lastRetryAt + betweenRetriesMs));
    return lastRetryAt - time;
  }

  /** Puts a text off for a reason that is not its own. */
  const putOff = (detail: string, afterMs: number): Submission => ({
    ...later(detail, afterMs),
    waitsForTurn: performance.now() - tookAt < takesMs,
  });

  /**
   * Hands the text over unless a limit forbids it. `prepare` runs before, and resolves with null or with the reason
   * why the text cannot go.
   */
  async function admit(
    { lane }: Pick<TextMessage, 'lane'>,
    hand: () => Promise<Submission>,
    prepare: () => Promise<Submission | null> = async () => null,
  ): Promise<Submission> {
    const throttledMs = throttledUntil - performance.now();
    if (throttledMs > 0) return putOff('The gateway has asked for fewer messages', throttledMs);
    if (inHand >= Math.max(window, 0.75 * config.SMS_CONCURRENCY))
      return putOff('The gateway has enough in hand', 500);
    inHand += 1;
    try {
      const unready = await prepare();
      if (unready) return unready;
      const pass = await breaker.pass(0);
      if ('waitMs' in pass) return putOff('The gateway does not answer', retryMs(lane, pass.waitMs));
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
   * Notes that the gateway wants fewer texts; `namedMs`: for how long, if the gateway says so. Further refusals
   * during this time change nothing, because their texts were already under way.
   */
  function throttle(namedMs?: number): void {
    const time = performance.now();
    if (time < throttledUntil) return;
    throttleMs = Math.min(longestThrottleMs, throttleMs === 0 ? firstThrottleMs : throttleMs * 2);
    throttledUntil = time + Math.min(longestNamedMs, namedMs ?? throttleMs);
  }

  return {
    admit,
    putOff,
    throttle,
    /** Returns how long a text waits that the gateway does not take now, in milliseconds. */
    throttleMs: () =>
      Math.max(throttleMs || firstThrottleMs, Math.min(longestWaitMs, throttledUntil - performance.now())),
    /** Notes that a text was taken, so that the next refusal starts with the shortest wait again. */
    tookOne: () => {
      tookAt = performance.now();
      if (tookAt >= throttledUntil) throttleMs = 0;
    },
    /**
     * Tells the circuit breaker whether the gateway as a whole failed: it gave no answer, or put texts off for a
     * reason of its own.
     */
    note: breaker.note,
    takeTurn: bucket.take,
    inHand: () => inHand,
    isOpen: () => !breaker.holdsBack() && performance.now() >= throttledUntil,
  };
}

export function later(detail: string, afterMs: number): Submission & { kind: 'later' } {
  const waitMs = Math.min(longestWaitMs, Math.max(200, afterMs));
  // Jitter, so that the texts do not all come back at the same moment.
  return { kind: 'later', detail, afterMs: Math.round(waitMs * (1 + Math.random() / 4)) };
}
