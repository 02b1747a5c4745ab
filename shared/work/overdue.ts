import { now } from '../clock.ts';
import type { Job } from '../jobs/job.ts';
import { enqueueAll } from '../queue.ts';
import { jobName, overdueSuffix } from './job-name.ts';

/** A row whose work has no owners to share Redis between, because no owner ever has many of them. */
type Overdue<Payload> = {
  payload: Payload;
  id: string;
  dueAt: Date;
  claims: number;
  requestId: string | null;
};

/**
 * Makes again the jobs of such rows that have been due for a while, longest due first, so many in one run; returns how
 * many there were.
 */
export async function wakeOverdue<Payload extends object>(
  job: Job<Payload, 'default'>,
  overdue: Overdue<Payload>[],
): Promise<number> {
  const at = now();
  const items = overdue.map(({ payload, requestId, ...row }) => ({
    payload,
    id: jobName(row, overdueSuffix(row.dueAt, at)),
    at: null,
    requestId,
  }));
  if (items.length > 0) await enqueueAll(job, 'default', items);
  return overdue.length;
}
