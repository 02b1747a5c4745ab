/** What a job must do next: nothing more, or come back at a time. */
export type Outcome = 'done' | 'dropped' | { retryAt: Date };
