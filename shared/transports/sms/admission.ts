import { mostBeside } from '../../common/fair-shares.ts';
import { config } from '../../config/config.ts';
import type { Submission, TextOfLane } from './gateway.ts';
import { createGatewayCircuitBreaker } from './gateway-circuit-breaker.ts';
import { createPace } from './pace.ts';
import { createReturnTimes } from './return-times.ts';
import { createReturns, returnStepMs } from './returns.ts';
import { createTally } from './tally.ts';
import { sharedTokenBucket } from './token-bucket.ts';

// If this hand-over were given up while its text still waits here, the text would go out later, and the next attempt
// would send it too. So all steps before the write have one deadline, and the answer has another. Both end before
// SMS_TIMEOUT_SECONDS.
export const waitMs = () => 0.35 * config.SMS_TIMEOUT_SECONDS * 1000;
export const answerMs = () => 0.6 * config.SMS_TIMEOUT_SECONDS * 1000;

const [firstThrottleMs, longestThrottleMs] = [1_000, 30_000];
/** A gateway may ask for a wait of up to this time. */
const longestNamedMs = 3_600_000;
/** A text waits at most this long for its next try, as far as not too many wait: another gateway may be up by then. */
const longestWaitMs = 60_000;
/** After this time texts come back that only wait for our own limits, and texts that the gateway does not answer. */
const [turnMs, silentMs] = [500, 5_000];
/**
 * Texts that wait come back one after the other, half as fast again as the gateway takes texts, so that its next turn
 * always finds one. Each try costs a claim and an outcome, which the texts for other gateways pay for.
 */
const returnsPerTaken = 1.5;
/** The time between two of them is at most this long; where some wait longer than `longestWaitMs`, the shorter one. */
const [longestGapMs, shortGapMs] = [50, 10];
/**
 * Texts in progress that wait for a turn hold slots of the worker that texts for other gateways need. So only few may:
 * these, and as many as the gateway takes in this time.
 */
const [leastWaiting, waitingSeconds] = [5, 0.5];
/**
 * A gateway that has taken a text within this time is up. A text that waits then waits for its turn: because of our own
 * limits, those of the carrier, or a connection that was lost for a moment.
 */
const takesMs = 3_600_000;

type GatewayLimits = {
  name: string;
  /** Texts that may be on their way to the gateway at once. */
  window: number;
  /** The rate of all processes together. */
  perSecond?: number | undefined;
};

type PutOff = Submission & { kind: 'later' };

/**
 * Creates the admission of texts to one gateway, for this process. While a gateway does not answer, asks for fewer
 * texts or has enough in progress, its texts get the result `later` and wait in their rows.
 */
export function createAdmission({ name, window, perSecond }: GatewayLimits) {
  const breaker = createGatewayCircuitBreaker(name);
  const bucket = sharedTokenBucket(name, perSecond);
  let throttleMs = 0;
  let throttledUntil = 0;
  let throttledAt = Number.NEGATIVE_INFINITY;
  /** The gateway refuses all texts for their number: that is an outage. */
  let refusesAll = false;
  // A new process does not know yet whether the gateway takes texts, and must not give up a text that has waited long
  // for its turn.
  let tookAt = performance.now();
  const inProgress = createTally();
  /** The texts in progress that still wait for a turn or a place in the window. */
  const waiting = createTally();
  /**
   * The texts that this process hands over. A new process begins with what the settings promise, or with a usual answer
   * time of 125 ms.
   */
  const pace = createPace(perSecond ?? 8 * window);
  const returnTimes = createReturnTimes();
  const returns = createReturns(((perSecond ?? Number.POSITIVE_INFINITY) * returnStepMs) / 1000);

  /**
   * Puts a text off for a reason that is not its own, for `leastMs` or until those before it have come back.
   * `takesNone`: the gateway takes no texts at all now.
   */
  function putOff(text: TextOfLane, detail: string, leastMs: number, takesNone = false): PutOff {
    if (takesNone) {
      pace.stop();
      returns.stop();
    } else returns.tried('putOff');
    const time = performance.now();
    const gapOf = (aheadMs: number) =>
      Math.min(
        aheadMs > longestWaitMs ? shortGapMs : longestGapMs,
        1000 / (returnsPerTaken * pace.perSecond()),
      );
    const earliest = time + jittered(Math.min(longestWaitMs, leastMs));
    const afterMs = Math.round(returnTimes.next(text, earliest, gapOf) - time);
    return { kind: 'later', detail, afterMs, isPutOff: true, waitsForTurn: time - tookAt < takesMs };
  }

  /**
   * Whether enough texts are in progress, so that this one would be too many. Each of them holds a slot of the worker,
   * which has `SMS_CONCURRENCY` in a lane. All that one workspace may hold are not too many: it would only get others
   * in place of those that are put off.
   */
  function isFull(text: TextOfLane): boolean {
    const slots = Math.max(window, mostBeside(0, config.SMS_CONCURRENCY));
    const places = leastWaiting + waitingSeconds * pace.perSecond();
    return inProgress.isFull(text, slots, leastWaiting) || waiting.isFull(text, places, leastWaiting);
  }

  /**
   * Hands the text over unless a limit forbids it. `hand` calls `started` when the text no longer waits for a turn or a
   * place. `prepare` runs before, and resolves with null or with the reason why the text cannot go.
   */
  async function admit(
    text: TextOfLane,
    hand: (started: () => void) => Promise<Submission>,
    prepare: () => Promise<Submission | null> = async () => null,
  ): Promise<Submission> {
    const throttledMs = throttledUntil - performance.now();
    if (throttledMs > 0)
      return putOff(text, 'The gateway has asked for fewer messages', throttledMs, refusesAll);
    if (isFull(text)) return putOff(text, 'The gateway has enough in progress', turnMs);
    inProgress.add(text, 1);
    waiting.add(text, 1);
    let isWaiting = true;
    const started = () => {
      if (isWaiting) waiting.add(text, -1);
      isWaiting = false;
    };
    try {
      const unready = await prepare();
      if (unready) return unready;
      const pass = await breaker.pass(text.workspaceId);
      if ('waitMs' in pass) {
        const waitMs = Math.max(silentMs, pass.waitMs);
        return pass.isOwn
          ? noted(later('The gateway takes no texts of the workspace', waitMs))
          : putOff(text, 'The gateway does not answer', waitMs, true);
      }
      try {
        return noted(await hand(started));
      } finally {
        pass.leave();
      }
    } finally {
      started();
      inProgress.add(text, -1);
    }
  }

  function noted(submission: Submission): Submission {
    const { kind } = submission;
    // A text that was put off is noted where that happens.
    if (kind === 'later' && submission.isPutOff) return submission;
    if (kind === 'accepted') pace.note();
    // Texts that are put off from now on need not wait behind those of the time when the gateway took none.
    if (returns.tried(kind === 'accepted' ? 'taken' : 'other')) returnTimes.clear();
    return submission;
  }

  /**
   * Notes that the gateway wants fewer texts; `namedMs`: for how long, if the gateway says so. Further refusals
   * during this time change nothing, because their texts were already under way. If the gateway has taken no text
   * between two refusals, or names a long time, it takes none at all now.
   */
  function throttle(namedMs = 0): void {
    const time = performance.now();
    if (time < throttledUntil) return;
    refusesAll = tookAt <= throttledAt || namedMs >= silentMs;
    throttledAt = time;
    throttleMs = Math.min(longestThrottleMs, throttleMs === 0 ? firstThrottleMs : throttleMs * 2);
    throttledUntil = time + Math.min(longestNamedMs, namedMs || throttleMs);
  }

  /** Returns how long a text waits that the gateway does not take now, in milliseconds. */
  const currentThrottleMs = () =>
    Math.max(throttleMs || firstThrottleMs, Math.min(longestWaitMs, throttledUntil - performance.now()));

  return {
    admit,
    putOff,
    /** Puts off a text that found no turn or place in time. `isSilent`: the gateway answers none of those it has. */
    putOffUnsent: (text: TextOfLane, detail: string, isSilent = false) =>
      putOff(text, `Not sent: ${detail}`, isSilent ? silentMs : turnMs, isSilent),
    /** Puts a text off because the operator has paused the gateway. The time for retries goes on meanwhile. */
    putOffPaused: (text: TextOfLane, detail: string, leastMs: number): PutOff => ({
      ...putOff(text, detail, leastMs, true),
      waitsForTurn: false,
    }),
    /** Puts off a text that the gateway has refused because it wants fewer; `namedMs`: for how long, if it says so. */
    putOffThrottled(text: TextOfLane, detail: string, namedMs?: number): PutOff {
      throttle(namedMs);
      return putOff(text, detail, currentThrottleMs(), refusesAll);
    },
    throttleMs: currentThrottleMs,
    /** Notes that a text or a part of one was taken, so that the next refusal starts with the shortest wait again. */
    tookOne: () => {
      tookAt = performance.now();
      if (tookAt < throttledUntil) return;
      throttleMs = 0;
      refusesAll = false;
    },
    /**
     * Tells the circuit breaker whether the gateway failed at a text: it gave no answer, or put the text off for a reason
     * of its own.
     */
    note: breaker.note,
    noteLost: breaker.noteLost,
    takeTurn: bucket.take,
    inProgress: inProgress.total,
    returns,
    isOpen: (workspaceId?: string) => !breaker.holdsBack(workspaceId) && performance.now() >= throttledUntil,
  };
}

export function later(detail: string, afterMs: number): Submission & { kind: 'later' } {
  return { kind: 'later', detail, afterMs: Math.round(jittered(Math.min(longestWaitMs, afterMs))) };
}

/** Returns the wait with jitter, so that texts do not all come back at the same moment. */
const jittered = (waitMs: number) => Math.max(200, waitMs) * (1 + Math.random() / 4);
