import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { problem } from '../../common/errors.ts';
import { logger } from '../../common/logger.ts';
import type { RequestCaller } from '../../common/request-context.ts';
import { acquire, type Connection, type Row, retire, send } from './connection.ts';

type StatementLimit = { end: number; caller: RequestCaller | undefined };

const limits = new AsyncLocalStorage<StatementLimit>();
// MariaDB's ER_STATEMENT_TIMEOUT and MySQL's ER_QUERY_TIMEOUT.
const timeouts = new Set([1969, 3024]);
/**
 * Where the connections to the server are listed, with the same columns on both engines. MySQL's list of the name that
 * MariaDB has is an error for as long as anybody's statement has bytes that are no text.
 */
export const processlist =
  '/*M! information_schema.processlist */ /*!80000 performance_schema.processlist */';

/**
 * For work that only reads: once it has taken so long, or when nobody waits for it any more, the server ends its statement,
 * and it fails with 503.
 */
export async function limitTime<T>(
  { ms, caller }: { ms: number; caller: RequestCaller | undefined },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await limits.run({ end: performance.now() + ms, caller }, work);
  } catch (error) {
    const isEnded = caller?.hasGone() || timeouts.has((error as { errno?: number }).errno ?? 0);
    throw isEnded ? tookTooLong() : error;
  }
}

/** Sends a statement in text, within the time limit where there is one. */
export async function sendLimited<T>(
  connection: Connection,
  sql: string,
  values: readonly unknown[],
): Promise<T> {
  const limit = limits.getStore();
  if (!limit) return send(connection, false, sql, values);
  const { end, caller } = limit;
  const leftMs = Math.ceil(end - performance.now());
  if (leftMs <= 0 || caller?.hasGone()) throw tookTooLong();
  const mark = `/* ${randomUUID()} */`;
  // Each of the two servers takes the other's form for a comment.
  const text = `/*M! SET STATEMENT max_statement_time = ${leftMs / 1000} FOR */ ${sql.replace('SELECT', `SELECT /*+ MAX_EXECUTION_TIME(${leftMs}) */ ${mark}`)}`;
  const forget = caller?.onGone(() => {
    retire(connection);
    limits
      .exit(() => endStatement(connection, mark))
      .catch((error) => logger.debug({ err: error }, 'a statement goes on to its time limit'));
  });
  try {
    return await send(connection, false, text, values);
  } finally {
    forget?.();
  }
}

/**
 * Ends the statement with its connection, as the server does not see by itself that nobody waits. After a change of the
 * primary the same number may be another connection of another server, which has no such mark.
 */
async function endStatement({ threadId }: Connection, mark: string): Promise<void> {
  const { connection, release } = await acquire();
  try {
    const [found] = await send<Row[]>(
      connection,
      false,
      `SELECT id FROM ${processlist} WHERE id = ? AND info LIKE ?`,
      [threadId, `%${mark}%`],
    );
    if (found) await send(connection, false, 'KILL ?', [threadId]);
  } finally {
    await release();
  }
}

function tookTooLong(): Error {
  return problem('service_unavailable', { detail: 'It took too long to look that up', retryAfterSeconds: 5 });
}
