/**
 * After this time overdue we no longer trust the job in Redis to run: the row gets another job beside it, and one more
 * each time the delay has doubled.
 */
const distrustMs = 60_000;

/**
 * Returns the name of a row's job: the row's id and the number of the claim that the job leads to. Everything that
 * wakes the row uses this name, so waking it twice makes one job. A dead worker may hold that job, or it may have
 * failed for good, so rows that are long overdue get jobs under further names (`overdueSuffix`): the claim keeps all
 * but one of these jobs from doing anything (architecture rule 4).
 */
export function jobName({ id, claims }: { id: string; claims: number }, suffix = ''): string {
  return `${id}-${claims + 1}${suffix}`;
}

/**
 * Returns what the sweep adds to the name of a job that should have run long ago; empty while the first job may still
 * run.
 */
export function overdueSuffix(dueAt: Date, at: Date): string {
  const overdueMs = at.getTime() - dueAt.getTime();
  // New names come ever more seldom: rows that an outage keeps waiting for days must not fill Redis with their jobs.
  return overdueMs > distrustMs ? `-${Math.floor(Math.log2(overdueMs / distrustMs))}` : '';
}
