import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../common/clock.ts';
import { isOutage, Problem } from '../../common/errors.ts';
import type { WorkOutcome } from '../../work/outcome.ts';

const longestWaitMs = 5_000;

/**
 * Writes the outcome of an action outside of the platform. An outage of the database is waited out while the lease
 * lasts: if the outcome is not written, the next holder of the lease acts again, and the other side gets it twice
 * (architecture rule 9).
 */
export async function writeOutcome<T>(leaseEnd: Date, write: () => Promise<T>): Promise<T> {
  for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof Problem) || now().getTime() + waitMs >= leaseEnd.getTime()) throw error;
      await sleep(waitMs);
    }
  }
}

type Claim = { dueAt: Date | null; handoverAt: Date | null; uncertainCount: number };
type Undone = { at: Date; handoverAt: Date | null; uncertainCount: number };

/**
 * Runs an attempt under a claim of `leaseSeconds`: first `prepare`, before the other side is spoken to, then the
 * hand-over, if `prepare` returns one. An outage during `prepare` is no fault of the message, so the claim is undone:
 * otherwise the message would wait for the end of the lease.
 */
export async function prepareAndHandOver(
  { dueAt, handoverAt, uncertainCount }: Claim,
  { leaseSeconds, undo }: { leaseSeconds: number; undo: (claim: Undone) => Promise<void> },
  prepare: () => Promise<WorkOutcome | (() => Promise<WorkOutcome>)>,
): Promise<WorkOutcome> {
  // While a worker holds a message, `dueAt` is the end of the lease.
  const leaseEnd = dueAt!;
  const giveBack = () => undo({ at: now(), handoverAt, uncertainCount });
  let prepared: WorkOutcome | (() => Promise<WorkOutcome>);
  try {
    prepared = await prepare();
    // A hand-over takes half of a lease at most (LEASE_SECONDS). If the database hung after the claim, less than half
    // is left, and another worker could claim the message while this one still hands it over.
    if (typeof prepared === 'function' && leaseEnd.getTime() - now().getTime() < (leaseSeconds * 1000) / 2) {
      await giveBack();
      return { retryAt: now() };
    }
  } catch (error) {
    if (isOutage(error)) await writeOutcome(leaseEnd, giveBack).catch(() => undefined);
    throw error;
  }
  return typeof prepared === 'function' ? prepared() : prepared;
}
