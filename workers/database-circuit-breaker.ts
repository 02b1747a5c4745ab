import { createCircuitBreaker, type Pass } from '../shared/common/circuit-breaker.ts';
import { logger } from '../shared/common/logger.ts';
import { gauge } from '../shared/common/metrics.ts';
import { readiness } from '../shared/domain/operations/health.ts';

/**
 * The circuit breaker of the database in this process. Without the database no job can do anything, and each try would
 * cost a connection, several commands of Redis and a line of log, a thousand times a second if a thousand jobs wait.
 */
const pause = createCircuitBreaker(
  { firstPauseMs: 1_000, longestPauseMs: 5_000, longestWaitMs: 5_000 },
  {
    paused: (pauseMs) =>
      logger.error(
        { pauseSeconds: pauseMs / 1000 },
        'the database cannot be used; it is tried again after a pause',
      ),
    over: () => logger.warn('the database can be used again'),
  },
);
gauge('database_paused', () => Number(pause.isPaused()));

export const { note } = pause;

const patienceMs = 1_000;

/** Resolves when a job may go on, or with the time that it has to wait. */
export async function pass(longestWaitMs?: number): Promise<Pass> {
  const own = await pause.pass(longestWaitMs);
  if ('waitMs' in own || !pause.isPaused()) return own;
  // This job is the probe. If it takes long, for example with a slow relay, the database is asked directly, so that
  // the other jobs need not wait for it.
  const timer = setTimeout(() => void probe(), patienceMs);
  return {
    leave: () => {
      clearTimeout(timer);
      own.leave();
    },
  };
}

async function probe(): Promise<void> {
  if ((await readiness()).ready) pause.note(false);
}
