import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../common/clock.ts';
import { isOutage, Problem } from '../../common/errors.ts';
import type { WorkOutcome } from '../../work/outcome.ts';

const longestWaitMs = 5_000;

/**
 * Writes down what became of something that has happened outside. An outage of the database is waited out while the
 * lease lasts: what is not written is done again by the next holder, and arrives twice (architecture rule 9).
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
 * An attempt of a claim that lasts for `leaseSeconds`: first the part before the other side is spoken to, then the hand-over,
 * where it comes to one. An outage in the first part is no fault of the message, which is given back as it was claimed:
 * otherwise it would wait for the end of the lease.
 */
export async function prepareAndHandOver(
  { dueAt, handoverAt, uncertainCount }: Claim,
  { leaseSeconds, undo }: { leaseSeconds: number; undo: (claim: Undone) => Promise<void> },
  prepare: () => Promise<WorkOutcome | (() => Promise<WorkOutcome>)>,
): Promise<WorkOutcome> {
  // While a worker holds it, a message is due at the end of the lease.
  const leaseEnd = dueAt!;
  const giveBack = () => undo({ at: now(), handoverAt, uncertainCount });
  let prepared: WorkOutcome | (() => Promise<WorkOutcome>);
  try {
    prepared = await prepare();
    // A hand-over takes half of a lease at most (LEASE_SECONDS). Where the database hung after the claim, another worker would
    // take the message while this one still hands it over.
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
