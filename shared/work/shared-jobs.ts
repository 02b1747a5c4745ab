import { hash } from 'node:crypto';
import { runWithRequest } from '../common/request-context.ts';
import { jobName } from './job-name.ts';

/** Rows that are due at once may share a job: one job for all of them costs Redis only as much as a job for one. */
export type SharedJob<Row> = [first: Row, ...others: Row[]];

/** Groups the rows into jobs, in their order. Rows share a job only with rows of the same owner, up to `most`. */
export function inSharedJobs<Row>(
  rows: readonly Row[],
  {
    ownerOf,
    mayShare,
    most,
  }: { ownerOf: (row: Row) => string; mayShare: (row: Row) => boolean; most: number },
): SharedJob<Row>[] {
  const jobs: SharedJob<Row>[] = [];
  const open = new Map<string, SharedJob<Row>>();
  for (const row of rows) {
    const job = mayShare(row) ? open.get(ownerOf(row)) : undefined;
    if (job && job.length < most) {
      job.push(row);
      continue;
    }
    const begun: SharedJob<Row> = [row];
    jobs.push(begun);
    if (mayShare(row)) open.set(ownerOf(row), begun);
  }
  return jobs;
}

/**
 * Names a shared job by its rows. Another process may group the same rows differently at this moment. Under the
 * same name Redis would keep only the first job, and rows that only the second has would have none.
 */
export function sharedJobName(
  rows: SharedJob<{ id: string; claims: number; suffix?: string | undefined }>,
): string {
  const [first, ...others] = rows;
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
