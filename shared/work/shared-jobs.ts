import { hash } from 'node:crypto';
import { runWithRequest } from '../common/request-context.ts';
import { jobName } from './job-name.ts';

/** Several rows that are due at once may share a job: each of its own would cost Redis as much as all of them together. */
export type SharedJob<Row> = [first: Row, ...others: Row[]];

/** The rows in jobs, in their order. Rows share one with those of the same owner, up to `most`. */
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
 * The name of a job for these rows. A process that admits the same ones at this moment may group them in another way. That
 * is another job: under one name Redis would take the first alone, and rows that only the other has would have none.
 */
export function sharedJobName(
  rows: SharedJob<{ id: string; claims: number; suffix?: string | undefined }>,
): string {
  const [first, ...others] = rows;
  const name = jobName(first, first.suffix);
  return others.length > 0 ? `${name}-${hash('sha1', others.map(({ id }) => id).join())}` : name;
}

/**
 * Works on the rows of a job, each for itself and with the id of its own request; that of the first is the job's. The
 * fault of one leaves the others to end: `fault` is the first of them.
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
