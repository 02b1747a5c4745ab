import { hash } from 'node:crypto';
import { now } from '../common/clock.ts';
import { runWithRequest } from '../common/request-context.ts';
import type { WaitingRow } from '../db/work/admission.system.ts';
import type { Job } from '../jobs/job.ts';
import { enqueueAll } from '../queue/queue.ts';
import { jobName } from './job-name.ts';

/**
 * A row that is to have a job. `rank`: the priority of the job. `suffix`: set where a job under the usual name is not
 * trusted to run.
 */
export type JobRow = Omit<WaitingRow, 'isLeft'> & { rank?: number; suffix?: string };

/** Rows that are due at once may share a job: one job for all of them costs Redis only as much as a job for one. */
type SharedJob<Row> = [first: Row, ...others: Row[]];

/**
 * Makes the jobs of these rows, in their order. Rows of one owner that are due by now share a job, up to `mostIn` the
 * lane. A row that is due later, or whose job is made again, has a job of its own. Returns the rows whose jobs Redis did
 * not take. Redis may have taken some of those jobs all the same: such a job finds out for itself whose turn it is.
 */
export async function makeJobs<Row extends JobRow, Payload extends object, Lane extends string>(
  job: Job<Payload, Lane>,
  rows: readonly Row[],
  options: {
    laneOf: (row: Row) => Lane;
    mostIn: (lane: Lane) => number;
    payloadOf: (rows: SharedJob<Row>, lane: Lane) => Payload;
  },
): Promise<Row[]> {
  const time = now();
  const missed: Row[] = [];
  const failed = new Set<number>();
  for (const [lane, inLane] of Map.groupBy(rows, options.laneOf)) {
    const jobs = inSharedJobs(inLane, options.mostIn(lane), time).map((shared) => ({
      rows: shared,
      id: sharedJobName(shared),
      payload: options.payloadOf(shared, lane),
      at: shared[0].dueAt,
      requestId: shared[0].requestId,
      priority: shared[0].rank ?? 0,
    }));
    for (const one of await enqueueAll(job, lane, jobs, failed)) missed.push(...one.rows);
  }
  return missed;
}

function inSharedJobs<Row extends JobRow>(rows: readonly Row[], most: number, time: Date) {
  const jobs: SharedJob<Row>[] = [];
  const open = new Map<string, SharedJob<Row>>();
  for (const row of rows) {
    const mayShare = row.dueAt <= time && row.suffix === undefined;
    const job = mayShare ? open.get(row.ownerId) : undefined;
    if (job && job.length < most) {
      job.push(row);
      continue;
    }
    const begun: SharedJob<Row> = [row];
    jobs.push(begun);
    if (mayShare) open.set(row.ownerId, begun);
  }
  return jobs;
}

/**
 * Names a shared job by its rows. Another process may group the same rows differently at this moment. Under the
 * same name Redis would keep only the first job, and rows that only the second has would have none.
 */
function sharedJobName([first, ...others]: SharedJob<JobRow>): string {
  const name = jobName(first, first.suffix);
  return others.length > 0 ? `${name}-${hash('sha1', others.map(({ id }) => id).join())}` : name;
}

/**
 * Works on all rows of a job at once, each with the id of its own request; the first row has the request of the job. A
 * fault in one row does not stop the others: `fault` is the first fault.
 */
export async function workOnEach<Outcome>(
  firstId: string,
  others: readonly { id: string; requestId: string | null }[],
  workOn: (id: string) => Promise<Outcome>,
): Promise<{ outcomes: Outcome[]; fault: Error | null }> {
  const ends = await Promise.allSettled([
    workOn(firstId),
    ...others.map(({ id, requestId }) =>
      runWithRequest({ requestId: requestId ?? `job-${id}` }, () => workOn(id)),
    ),
  ]);
  const failed = ends.find((end) => end.status === 'rejected');
  return {
    outcomes: ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : [])),
    fault: failed ? (failed.reason as Error) : null,
  };
}
