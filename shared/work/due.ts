import { now } from '../common/clock.ts';
import { isolated } from '../common/isolated.ts';
import { listOldestDue, listOverdue, type OverdueRow } from '../db/work/due.system.ts';
import type { DueTable } from '../db/work/table.system.ts';
import type { Job } from '../jobs/job.ts';
import { enqueueAll } from '../queue/queue.ts';
import { jobName, overdueSuffix } from './job-name.ts';
import type { WorkKind } from './kind.ts';

/** A kind of work without admission, because no owner ever has many rows of it. `name`: the key of the metric too. */
export type DueKind = {
  name: string;
  table: DueTable;
  wake: (rows: OverdueRow[], at: Date) => Promise<unknown>;
};

/** Describes a kind whose rows have a job each. */
export function dueKind<Payload extends object>(
  name: string,
  table: DueTable,
  job: Job<Payload, 'default'>,
  payloadOf: (id: string) => Payload,
): DueKind {
  return {
    name,
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

/** Joins these kinds: one statement finds the overdue rows of all of them, and one the oldest row of each. */
export function dueKinds(kinds: DueKind[]): WorkKind {
  const tables = kinds.map(({ table }) => table);
  return {
    name: kinds.map(({ name }) => name).join(),
    tables,
    sweep: async (overdueBefore, limit) => {
      const found = await listOverdue(tables, overdueBefore, limit);
      const at = now();
      const wakes = isolated('overdue rows of a kind of work could not be woken');
      for (const [index, { name, wake }] of kinds.entries()) {
        const rows = found[index]!;
        if (rows.length > 0) await wakes.run({ kind: name }, () => wake(rows, at));
      }
      wakes.end();
      return found.flat().length;
    },
    oldestDue: async (at) => {
      const times = await listOldestDue(tables, at);
      return kinds.map(({ name }, index) => [name, times[index]!] as const);
    },
  };
}
