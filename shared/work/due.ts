import { now } from '../common/clock.ts';
import { listOverdue, type OverdueRow } from '../db/work/due.system.ts';
import type { DueTable } from '../db/work/table.system.ts';
import type { Job } from '../jobs/job.ts';
import { enqueueAll } from '../queue/queue.ts';
import { jobName, overdueSuffix } from './job-name.ts';

/** A kind of work without admission, because no owner ever has many rows of it. */
type DueKind = { table: DueTable; wake: (rows: OverdueRow[], at: Date) => Promise<unknown> };

export function dueKind<Payload extends object>(
  table: DueTable,
  job: Job<Payload, 'default'>,
  payloadOf: (id: string) => Payload,
): DueKind {
  return {
    table,
    wake: (rows, at) =>
      enqueueAll(
        job,
        'default',
        rows.map((row) => ({
          payload: payloadOf(row.id),
          id: jobName(row, overdueSuffix(row.dueAt, at)),
          at: null,
          requestId: row.requestId,
        })),
      ),
  };
}

/**
 * Makes the sweep of these kinds. The sweep makes the jobs of overdue rows again, the longest overdue first, at most
 * `limit` of each kind in one run. It returns how many rows it found.
 */
export function dueSweeper(kinds: DueKind[]): (overdueBefore: Date, limit: number) => Promise<number> {
  const tables = kinds.map(({ table }) => table);
  return async (overdueBefore, limit) => {
    const found = await listOverdue(tables, overdueBefore, limit);
    const at = now();
    for (const [index, rows] of found.entries()) if (rows.length > 0) await kinds[index]!.wake(rows, at);
    return found.flat().length;
  };
}
