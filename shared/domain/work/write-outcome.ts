import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../common/clock.ts';
import { isOutage, Problem } from '../../common/errors.ts';

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

/**
 * Whether a hand-over that begins now is over when the lease is: its time-out is half of a lease at most (LEASE_SECONDS).
 * Where the database hung after the claim, another worker would take the message while this one still hands it over.
 */
export function leavesTime(leaseEnd: Date, leaseSeconds: number): boolean {
  return leaseEnd.getTime() - now().getTime() >= (leaseSeconds * 1000) / 2;
}

type Claim = { dueAt: Date | null; handoverAt: Date | null; uncertainCount: number };

/**
 * The part of an attempt before the other side is spoken to. An outage in it is no fault of the message, which is given
 * back as it was claimed: otherwise it would wait for the end of the lease.
 */
export async function undoneOnOutage<T>(
  { dueAt, handoverAt, uncertainCount }: Claim,
  undo: (claim: { at: Date; handoverAt: Date | null; uncertainCount: number }) => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // While a worker holds it, a message is due at the end of the lease.
    if (isOutage(error))
      await writeOutcome(dueAt!, () => undo({ at: now(), handoverAt, uncertainCount })).catch(
        () => undefined,
      );
    throw error;
  }
}
