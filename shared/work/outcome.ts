/**
 * The end of a job's run: its work is done, its work was not this worker's to do, or the job comes back at `retryAt`.
 */
export type WorkOutcome = 'done' | 'dropped' | { retryAt: Date };
