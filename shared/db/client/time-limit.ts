import { AsyncLocalStorage } from 'node:async_hooks';
import { problem } from '../../common/errors.ts';

/** When reading is to be over, and whether anybody still waits for it. */
type StatementLimit = { end: number; isInVain: () => boolean };

const limits = new AsyncLocalStorage<StatementLimit>();
// MariaDB's ER_STATEMENT_TIMEOUT and MySQL's ER_QUERY_TIMEOUT.
const timeouts = new Set([1969, 3024]);

/**
 * For work that only reads: once it has taken so long, the server ends its statement, and it fails with 503. It sends no
 * further statement either when nobody waits for it any more.
 */
export async function limitTime<T>(
  { ms, isInVain }: { ms: number; isInVain: () => boolean },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await limits.run({ end: performance.now() + ms, isInVain }, work);
  } catch (error) {
    throw timeouts.has((error as { errno?: number }).errno ?? 0) ? tookTooLong() : error;
  }
}

/** The statement, as it is sent within a time limit. */
export function timeLimited(sql: string): string {
  const limit = limits.getStore();
  if (!limit) return sql;
  const leftMs = Math.ceil(limit.end - performance.now());
  if (leftMs <= 0 || limit.isInVain()) throw tookTooLong();
  // Each of the two servers takes the other's form for a comment.
  return `/*M! SET STATEMENT max_statement_time = ${leftMs / 1000} FOR */ ${sql.replace('SELECT', `SELECT /*+ MAX_EXECUTION_TIME(${leftMs}) */`)}`;
}

function tookTooLong(): Error {
  return problem('service_unavailable', { detail: 'It took too long to look that up', retryAfterSeconds: 5 });
}
