import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import knex, { type Knex } from 'knex';
import { config } from '../config.ts';
import { Problem, problem } from '../errors.ts';
import { logger } from '../logger.ts';

/** What mysql2's callback connection offers, as far as we use it. */
type Connection = {
  query(options: object, done: (error: unknown, rows: unknown) => void): void;
  execute(options: object, done: (error: unknown, rows: unknown) => void): void;
  destroy(): void;
  __knex__disposed?: unknown;
};
export type Param = string | number | boolean | Date | Buffer | null;
export type Row = Record<string, any>;
export type Changed = { affectedRows: number };

// Nothing may hang on a frozen server for ever; a request has given up long before.
const queryTimeoutMs = 20_000;
const acquireTimeoutMs = 5_000;

let pool: Knex | undefined;

function note(message: unknown): void {
  logger.debug({ message }, 'knex');
}

/** The pool, opened at first use. The session settings are set here, so that no server default matters. */
export function database(): Knex {
  pool ??= knex({
    client: 'mysql2',
    connection: {
      uri: config.MYSQL_URL,
      timezone: 'Z',
      charset: 'utf8mb4',
      supportBigNumbers: true,
      connectTimeout: 5_000,
      // Statements are prepared per connection and the server caps their number for all.
      maxPreparedStatements: 100,
    },
    acquireConnectionTimeout: acquireTimeoutMs,
    compileSqlOnError: false,
    // Knex would write lines of its own between the JSON ones.
    log: { warn: note, error: note, deprecate: note, debug: note },
    pool: {
      min: 0,
      max: config.MYSQL_POOL_SIZE,
      // Errors of a new connection reach the caller at once, as 503, instead of being retried till the time-out.
      propagateCreateError: true,
      afterCreate: (connection: Connection, done: (error: unknown, connection: Connection) => void) => {
        connection.query(
          {
            sql: `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
              time_zone = '+00:00', innodb_lock_wait_timeout = 5`,
          },
          (error) => {
            if (error) return done(error, connection);
            connection.query({ sql: 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED' }, (failure) =>
              done(failure, connection),
            );
          },
        );
      },
    },
  } as Knex.Config);
  return pool;
}

export async function closeDatabase(): Promise<void> {
  const open = pool;
  pool = undefined;
  await open?.destroy();
}

type Unit = { connection: Connection; afterCommit: (() => void)[]; ended: boolean };
const units = new AsyncLocalStorage<Unit>();

function currentUnit(): Unit | undefined {
  const unit = units.getStore();
  if (unit?.ended) throw new Error('A statement was issued after its transaction had ended');
  return unit;
}

/** Runs when the current transaction has committed; at once where there is none. */
export function afterCommit(action: () => void): void {
  const unit = currentUnit();
  if (unit) unit.afterCommit.push(action);
  else action();
}

/** Leaves the current transaction's context, for work that serves several callers at once. */
export function outsideTransaction<T>(work: () => T): T {
  return units.exit(work);
}

/** A connection, and how to give it back: to the pool that it is of, which may be closing by then and waits for it. */
async function acquire(): Promise<{ connection: Connection; release: () => Promise<void> }> {
  const { client } = database();
  try {
    const connection: Connection = await client.acquireConnection();
    return { connection, release: () => client.releaseConnection(connection) };
  } catch (error) {
    throw asProblem(error);
  }
}

function send<T>(
  connection: Connection,
  prepared: boolean,
  sql: string,
  values: readonly Param[],
): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = (error: unknown, rows: unknown) => {
      if (!error) return resolve(rows as T);
      // A connection that broke or timed out is in an unknown state: it must not serve anyone else.
      if ((error as { fatal?: boolean }).fatal || errorCode(error) === 'PROTOCOL_SEQUENCE_TIMEOUT') {
        connection.__knex__disposed = error;
        connection.destroy();
      }
      reject(error);
    };
    const options = { sql, values, timeout: queryTimeoutMs };
    if (prepared) connection.execute(options, done);
    else connection.query(options, done);
  });
}

async function withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const unit = currentUnit();
  if (unit) return work(unit.connection);
  const { connection, release } = await acquire();
  try {
    return await work(connection);
  } catch (error) {
    throw asProblem(error);
  } finally {
    await release();
  }
}

/** A prepared statement: for the few statements of the hot paths, whose text never varies. */
export function execute<T = Row[]>(sql: string, values: readonly Param[] = []): Promise<T> {
  return withConnection((connection) => send<T>(connection, true, sql, values));
}

/** A statement in text, for SQL whose length varies (IN lists, multi-row inserts). `?` takes nested arrays. */
export function query<T = Row[]>(sql: string, values: readonly unknown[] = []): Promise<T> {
  return withConnection((connection) => send<T>(connection, false, sql, values as Param[]));
}

/** Runs a Knex query, inside the current transaction where there is one. */
export async function run<T>(builder: Knex.QueryBuilder): Promise<T> {
  return withConnection((connection) => builder.connection(connection) as unknown as Promise<T>);
}

/** A Knex query on a table; give it to `run`. */
export function table(name: string): Knex.QueryBuilder {
  return database()(name);
}

/**
 * The unit of work: everything inside commits together or not at all (design rule 1). A deadlock or a lock
 * wait is tried again up to three times, so `work` must do nothing but speak to the database. Inside another
 * transaction it joins that one. No network call belongs inside.
 */
export async function transaction<T>(work: () => Promise<T>): Promise<T> {
  if (currentUnit()) return work();
  for (let attempt = 1; ; attempt += 1) {
    const { connection, release } = await acquire();
    const unit: Unit = { connection, afterCommit: [], ended: false };
    try {
      await send(connection, false, 'START TRANSACTION', []);
      const result = await units.run(unit, work);
      unit.ended = true;
      await send(connection, false, 'COMMIT', []);
      for (const action of unit.afterCommit) action();
      return result;
    } catch (error) {
      unit.ended = true;
      if (!connection.__knex__disposed) await send(connection, false, 'ROLLBACK', []).catch(() => undefined);
      if (!isLockConflict(error)) throw asProblem(error);
      if (attempt > 3)
        throw problem('service_unavailable', {
          detail: 'Too many conflicting requests',
          retryAfterSeconds: 1,
        });
    } finally {
      await release();
    }
    await sleep(5 * 2 ** attempt * (0.5 + Math.random()));
  }
}

/**
 * An index hint for statements that lock rows by their ids. Where a table is nearly empty, or is believed to be, the
 * optimizer reads all of it, and then waits for what every other transaction has in hand.
 */
export const byId = 'FORCE INDEX (PRIMARY)';

/** A time inside JSON that MySQL reads as DATETIME(3). */
export function sqlTime(time: Date | null): string | null {
  return time && time.toISOString().replace('T', ' ').slice(0, 23);
}

function errorCode(error: unknown): string {
  return (error as { code?: string } | null)?.code ?? '';
}

function errorNumber(error: unknown): number {
  return Number((error as { errno?: unknown } | null)?.errno ?? 0);
}

/** 1213 deadlock, 1205 lock wait: nothing is wrong with the work, it only met another. */
function isLockConflict(error: unknown): boolean {
  return errorNumber(error) === 1213 || errorNumber(error) === 1205;
}

export function isDuplicateKey(error: unknown): boolean {
  return errorNumber(error) === 1062;
}

/** Another transaction has the lock: 1205 after waiting, and at once after NOWAIT, where MySQL says 3572. */
export function isLockWait(error: unknown): boolean {
  const number = errorNumber(error instanceof Problem ? error.cause : error);
  return number === 1205 || number === 3572;
}

const lostConnection =
  /^(ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|PROTOCOL_CONNECTION_LOST|PROTOCOL_SEQUENCE_TIMEOUT|ER_SERVER_SHUTDOWN|ER_CON_COUNT_ERROR|ER_OPTION_PREVENTS_STATEMENT|ER_READ_ONLY_MODE|ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION|ER_RECORD_FILE_FULL|ER_DISK_FULL|ER_CONNECTION_KILLED|ER_QUERY_INTERRUPTED)$/;
// Read-only server, disk full, shutting down, too many connections, a lock conflict of a statement without a transaction:
// by number, as MariaDB's names differ.
const unavailableNumbers = new Set([1021, 1040, 1053, 1114, 1203, 1205, 1213, 1290, 1792, 1836, 1927]);

/** A fault of the database or the way to it becomes 503 service_unavailable; anything else stays as it is. */
function asProblem(error: unknown): unknown {
  // mysql2 puts the statement with all its values there, and errors are logged.
  if (error instanceof Error) delete (error as { sql?: string }).sql;
  if (error instanceof Problem) return error;
  const unavailable =
    lostConnection.test(errorCode(error)) ||
    unavailableNumbers.has(errorNumber(error)) ||
    (error as Error | null)?.name === 'KnexTimeoutError' ||
    (error as { fatal?: boolean } | null)?.fatal === true ||
    /closed state|Unable to acquire/.test(String((error as Error | null)?.message));
  if (!unavailable) return error;
  const refusal = problem('service_unavailable', {
    detail: 'The database is not available',
    retryAfterSeconds: 2,
  });
  refusal.cause = error;
  return refusal;
}
