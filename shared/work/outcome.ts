/** The next step of a job: nothing more, nothing as it was not ours to do, or come back at a time. */
export type WorkOutcome = 'done' | 'dropped' | { retryAt: Date };
