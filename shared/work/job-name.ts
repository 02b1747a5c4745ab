/** From then on the job that Redis has is not trusted to run: it gets another beside it, and one more after twice the time. */
const distrustMs = 60_000;

/**
 * The name of a row's job: that of the claim that it leads to, as whoever woke it first called it too, so that waking twice
 * makes one job. A job under that name may be one that a dead worker holds or that failed for good, so rows that have been
 * overdue for long (`sweptAt`) get jobs under further names: the claim keeps all but one of them from doing anything
 * (architecture rule 4).
 */
export function jobName({ id, claims }: { id: string; claims: number }, suffix = ''): string {
  return `${id}-${claims + 1}${suffix}`;
}

/** The sweep adds this to the name of a job that should have run long ago; empty where it may still do so. */
export function overdueSuffix(dueAt: Date, at: Date): string {
  const overdueMs = at.getTime() - dueAt.getTime();
  // Ever more seldom: rows that an outage keeps waiting for days must not fill Redis with their jobs.
  return overdueMs > distrustMs ? `-${Math.floor(Math.log2(overdueMs / distrustMs))}` : '';
}
