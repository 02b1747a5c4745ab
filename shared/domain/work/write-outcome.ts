import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../common/clock.ts';
import { isOutage } from '../../common/errors.ts';
import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { isNear } from '../../queue/queue.ts';
import type { WorkOutcome } from '../../work/outcome.ts';
import { againIn } from '../../work/turns.ts';

/** Runs attempts under a claim and writes their outcomes, for emails and text messages. */

/** After an outage the outcome must be there before the sweep has woken another worker (`oneByOne`). */
const longestWaitMs = 1_000;
/** For this time at most, work without the database keeps its slot. Other work could not use the slot anyway. */
const longestOutageMs = 3_600_000;

/**
 * Writes the outcome of an action outside of the platform, again and again while the lease lasts, whatever the fault:
 * if the outcome is not written, the next holder of the lease acts again, and the other side gets it twice
 * (architecture rule 9). In an outage nobody else can take the lease, so its end does not matter. If somebody has taken
 * it since, the token keeps the outcome from being written.
 */
export async function writeOutcome<T>(leaseEnd: Date, write: () => Promise<T>): Promise<T> {
  let isNoted = false;
  for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    try {
      return await write();
    } catch (error) {
      const leaseLeftMs = leaseEnd.getTime() - now().getTime() - waitMs;
      const isAway = isOutage(error);
      if (leaseLeftMs <= (isAway ? -longestOutageMs : 0)) throw error;
      if (!isNoted && (!isAway || leaseLeftMs <= 0)) {
        logger.error(
          { err: error },
          'the outcome of an attempt could not be stored; the platform tries again',
        );
        isNoted = true;
      }
      // Outcomes that failed in one batch must not meet in one batch again, because one of them may have failed all of
      // them.
      await sleep(waitMs * (0.5 + Math.random() / 2));
    }
  }
}

/** Returns what becomes of the job of a message once the outcome is written. */
export function jobAfter({ dueAt, parked }: { dueAt: Date | null; parked: boolean }): WorkOutcome {
  if (!dueAt) return 'done';
  // A message that found no room in Redis waits in its row; one that is due much later does so anyway.
  return parked && isNear(dueAt) ? 'dropped' : { retryAt: dueAt };
}

/** The delay of a message that was put off; it has waited in a process already. */
const putOffMs = 1_000;

/** The delay after a fault of our own, which is not likely to be repaired within seconds. */
export const faultDelayMs = 300_000;

/** Tells the operator of a fault of our own: a secret that does not open, a message that cannot be made. */
export function noteOwnFault(
  work: 'email' | 'sms' | 'webhook_delivery',
  error: unknown,
  ids: Record<string, string | undefined>,
): void {
  count('own_faults', { work });
  logger.error({ err: error, work, ...ids }, 'a message or a delivery cannot be made by a fault of our own');
}

type ClaimedWork = { id: string; dueAt: Date | null; handoverAt: Date | null; uncertainCount: number };
/** `triedAt`: when the time for retries begins, unless it has begun already; null leaves it as it is. */
type Undone = { at: Date; triedAt: Date | null; handoverAt: Date | null; uncertainCount: number };

/**
 * Runs an attempt under a claim of `leaseSeconds`: first `prepare`, before the other side is spoken to, then the
 * hand-over, if `prepare` returns one. A fault during `prepare` is no fault of the message, so the claim is undone:
 * otherwise the message would wait for the end of the lease, and the claim would count as a worker that died. After an
 * outage the message is due at once. After any other fault the message is parked for a while, or `giveUp` ends it. The
 * claim is also undone where the hand-over returns null: it was not begun.
 */
export async function prepareAndHandOver(
  { id, dueAt, handoverAt, uncertainCount }: ClaimedWork,
  options: {
    work: 'email' | 'sms';
    leaseSeconds: number;
    undo: (claim: Undone) => Promise<void>;
    /** Ends a message for which `next` is too late; null where it is not. */
    giveUp: (next: Date) => Promise<WorkOutcome> | null;
  },
  prepare: () => Promise<WorkOutcome | (() => Promise<WorkOutcome | null>)>,
): Promise<WorkOutcome> {
  const { work, leaseSeconds, undo, giveUp } = options;
  // While a worker holds a message, `dueAt` is the end of the lease.
  const leaseEnd = dueAt!;
  const giveBack = (at = now(), triedAt: Date | null = null) =>
    undo({ at, triedAt, handoverAt, uncertainCount });
  let prepared: WorkOutcome | (() => Promise<WorkOutcome | null>);
  try {
    prepared = await prepare();
    // A hand-over takes half of a lease at most (LEASE_SECONDS). If the database hung after the claim, less than half
    // is left, and another worker could claim the message while this one still hands it over.
    if (typeof prepared === 'function' && leaseEnd.getTime() - now().getTime() < (leaseSeconds * 1000) / 2) {
      await giveBack();
      return againIn(0);
    }
  } catch (error) {
    if (isOutage(error)) {
      await writeOutcome(leaseEnd, () => giveBack()).catch(() => undefined);
      throw error;
    }
    noteOwnFault(work, error, { id });
    const at = now();
    const next = new Date(at.getTime() + faultDelayMs);
    const end = giveUp(next);
    if (end) return end;
    await writeOutcome(leaseEnd, () => giveBack(next, at));
    return 'dropped';
  }
  if (typeof prepared !== 'function') return prepared;
  const outcome = await prepared();
  if (outcome) return outcome;
  const again = againIn(putOffMs);
  await writeOutcome(leaseEnd, () => giveBack(again.retryAt));
  return again;
}
