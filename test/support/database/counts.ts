import { takeCounts } from '../../../shared/common/metrics.ts';
import { addTotals, readTotals } from '../../../shared/queue/queue.ts';

/**
 * How often this file's world has counted this, ever. Not what this process holds at the moment: its report to the
 * totals, every other second, would have taken that at any time between what a test does and what it then asks.
 */
export async function countOf(name: string): Promise<number> {
  addTotals(takeCounts());
  const totals = await readTotals();
  if (!totals) throw new Error('Redis, which holds the totals, does not answer');
  return totals[name] ?? 0;
}
