/**
 * When a row is overdue by this time, we no longer expect its job in Redis to run. The row gets another job beside it,
 * and one more each time the delay has doubled.
 */
const distrustMs = 60_000;

/**
 * Names a job by its row and the number of the claim that it leads to, so repeated wake-ups make one job. That job
 * may have failed, or a dead worker may hold it, so a row that is long overdue gets jobs with a suffix
 * (`overdueSuffix`). The claim lets only one of them act (architecture rule 4).
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
  // The names change more and more rarely: in an outage, rows wait for days and must not fill Redis with their jobs.
  return overdueMs > distrustMs ? `-${Math.floor(Math.log2(overdueMs / distrustMs))}` : '';
}
