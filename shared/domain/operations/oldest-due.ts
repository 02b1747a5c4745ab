import { secondsSince } from '../../common/clock.ts';
import { kinds } from '../work/kinds.ts';

/**
 * Returns for how many seconds the oldest due row of each kind of work has been due; 0 where none is. Its keys are in
 * the tables of shared/work/README.md. The times come from MySQL, so they are right without Redis too.
 */
export async function oldestDueSeconds(at: Date): Promise<Record<string, number>> {
  const found = await Promise.all(kinds.map(async ({ oldestDue }) => (await oldestDue?.(at)) ?? []));
  const seconds: Record<string, number> = {};
  for (const [key, since] of found.flat())
    seconds[key] = Math.max(seconds[key] ?? 0, secondsSince(since, at));
  return seconds;
}
