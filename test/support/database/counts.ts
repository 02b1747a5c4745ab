import { takeCounts } from '../../../shared/common/metrics.ts';
import { addTotals, readTotals } from '../../../shared/queue/queue.ts';

/**
 * Returns how often this file's processes have counted this, ever. The counters of this process alone would not do: its
 * report to the totals, every other second, may empty them at any time between a test's action and its question.
 */
export async function countOf(name: string): Promise<number> {
  addTotals(takeCounts());
  const totals = await readTotals();
  if (!totals) throw new Error('Redis, which holds the totals, does not answer');
  return totals[name] ?? 0;
}
