import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../common/clock.ts';
import { Problem } from '../../common/errors.ts';

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
