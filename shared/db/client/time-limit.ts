import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { problem } from '../../common/errors.ts';
import { logger } from '../../common/logger.ts';
import type { RequestCaller } from '../../common/request-context.ts';
import { acquire, type Connection, type Row, retire, send } from './connection.ts';

/** `end`: set by the first statement, so that the wait for a connection does not count. */
type StatementLimit = { ms: number; end?: number; caller: RequestCaller | undefined };

const limits = new AsyncLocalStorage<StatementLimit>();
// MariaDB's ER_STATEMENT_TIMEOUT and MySQL's ER_QUERY_TIMEOUT.
const timeouts = new Set([1969, 3024]);
/**
 * The list of the server's connections, with the same columns on both engines. MySQL has the table that MariaDB uses
 * too, but there it fails while any running statement contains bytes that are not valid text.
 */
export const processlist =
  '/*M! information_schema.processlist */ /*!80000 performance_schema.processlist */';

/**
 * Limits work that only reads. After `ms`, or when the caller is gone, the server ends the running statement, and the
 * work fails with 503.
 */
export async function limitTime<T>(
  { ms, caller }: { ms: number; caller: RequestCaller | undefined },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await limits.run({ ms, caller }, work);
  } catch (error) {
    const isEnded = caller?.hasGone() || timeouts.has((error as { errno?: number }).errno ?? 0);
    throw isEnded ? tookTooLong() : error;
  }
}

/** Sends a statement as text, within the time limit where one is set. */
export async function sendLimited<T>(
  connection: Connection,
  sql: string,
  values: readonly unknown[],
): Promise<T> {
  const limit = limits.getStore();
  if (!limit) return send(connection, false, sql, values);
  limit.end ??= performance.now() + limit.ms;
  const { end, caller } = limit;
  const leftMs = Math.ceil(end - performance.now());
  if (leftMs <= 0 || caller?.hasGone()) throw tookTooLong();
  const mark = `/* ${randomUUID()} */`;
  // MySQL and MariaDB each read the form of the other as a comment.
  const text = `/*M! SET STATEMENT max_statement_time = ${leftMs / 1000} FOR */ ${sql.replace('SELECT', `SELECT /*+ MAX_EXECUTION_TIME(${leftMs}) */ ${mark}`)}`;
  const forget = caller?.onGone(() => {
    retire(connection);
    limits
      .exit(() => endStatement(connection, mark))
      .catch((error) =>
        logger.debug({ err: error }, 'a statement could not be ended, so it runs until its time limit'),
      );
  });
  try {
    return await send(connection, false, text, values);
  } finally {
    forget?.();
  }
}

/**
 * Ends the statement by ending its connection: the server does not notice that nobody waits. After a change of the
 * primary the number may belong to a connection of another server, so the mark must be found first.
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
  return problem('service_unavailable', {
    detail:
      'The search in the database took too long. Try a narrower filter, or send the request again later',
    retryAfterSeconds: 5,
  });
}
