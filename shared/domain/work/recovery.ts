import { now } from '../../common/clock.ts';
import { isolated } from '../../common/isolated.ts';
import { count } from '../../common/metrics.ts';
import { kinds } from './kinds.ts';

/** A row must be overdue for this long before its job counts as lost: the job may merely be waiting for its turn. */
const graceMs = 2_000;
// The most rows of a kind of work in one run.
const batchSize = 500;

/**
 * Adds the jobs that are missing in Redis: of overdue rows (a lost wake-up, a flushed Redis, a dead worker), and
 * of parked rows that are due soon. A job that is there already stays as it is, because its id names the attempt.
 * Returns how many rows it looked at. A fault of one kind does not stop the others; the first fault is thrown at
 * the end.
 */
export async function sweep(): Promise<number> {
  const overdueBefore = new Date(now().getTime() - graceMs);
  let seen = 0;
  const sweeps = isolated('the sweep of one kind of work failed');
  for (const { name: kind, sweep: one } of kinds)
    if (one) seen += (await sweeps.run({ kind }, () => one(overdueBefore, batchSize))) ?? 0;
  sweeps.end();
  count('sweep_runs');
  return seen;
}
