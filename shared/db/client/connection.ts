import knex, { type Knex } from 'knex';
import { logger } from '../../common/logger.ts';
import { config } from '../../config/config.ts';
import { asProblem, isForElsewhere, isMisled } from './faults.ts';
import { requirePrimary, viewOfServer } from './membership.ts';
import { doubtWriter, findWriter, forgetWriter, reviewWriter } from './writer.ts';

/** The part of mysql2's callback connection that we use. */
export type Connection = {
  query(options: object, done: (error: unknown, rows: unknown) => void): void;
  execute(options: object, done: (error: unknown, rows: unknown) => void): void;
  destroy(): void;
  __knex__disposed?: unknown;
  /** The server's number of it. */
  threadId?: number;
  madeAt?: number;
};
export type Param = string | number | boolean | Date | Buffer | null;
export type Row = Record<string, unknown>;
export type Changed = { affectedRows: number };

// Nothing may hang on a frozen server for ever.
export const acquireTimeoutMs = 5_000;
const connectTimeoutMs = 5_000;
/** A server that takes longer over something may stand still. */
const stalledAfterMs = 2_000;
// A process that hangs amid a transaction holds its locks, and what is locked stands still for everybody, until the
// server ends its connection. The pool itself closes those that have been idle for 30 seconds.
const idleSeconds = 60;

let pool: Knex | undefined;

/** Connections made before then lead to a server that has turned read-only, or is another one: they serve nobody any more. */
let misledBefore = 0;
/** The server that new connections lead to. */
let usual: string | undefined;
// Where new connections lead to that server too, the pool as a whole is not made anew more often than that.
const renewEveryMs = 1_000;

function note(message: unknown): void {
  logger.debug({ message }, 'knex');
}

/** The pool, opened at first use. The session settings are set here, so that no server default matters. */
export function database(): Knex {
  pool ??= knex({
    client: 'mysql2',
    connection: async () => {
      const { address, isForgotten } = await findWriter();
      return {
        ...address,
        expirationChecker: isForgotten,
        timezone: 'Z',
        charset: 'utf8mb4',
        supportBigNumbers: true,
        connectTimeout: connectTimeoutMs,
        // Statements are prepared per connection and the server caps their number for all.
        maxPreparedStatements: 100,
      };
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
      validate: ({ madeAt = 0 }: Connection) => madeAt >= misledBefore,
      afterCreate: (connection: Connection, done: (error: unknown, connection: Connection) => void) => {
        prepare(connection).then(
          () => done(null, connection),
          (error) => {
            connection.destroy();
            done(error, connection);
          },
        );
      },
    },
  } as Knex.Config);
  return pool;
}

/** Connections made before then serve nobody any more. False where the pool was made anew just before. */
function renew(at: number): boolean {
  if (at - misledBefore < renewEveryMs) return false;
  misledBefore = at;
  return true;
}

async function prepare(connection: Connection): Promise<void> {
  const at = performance.now();
  connection.madeAt = at;
  const ask = (sql: string) =>
    new Promise<Row[]>((resolve, reject) => {
      const done = (error: unknown, rows: unknown) => (error ? reject(error) : resolve(rows as Row[]));
      connection.query({ timeout: connectTimeoutMs, sql }, done);
    });
  // MariaDB, by itself, makes a list of a thousand values a table to be joined: it reads three times as much, and may
  // read, and lock, all rows of the other table.
  await ask(`SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
    time_zone = '+00:00', innodb_lock_wait_timeout = 5, wait_timeout = ${idleSeconds}
    /*M! , in_predicate_conversion_threshold = 0 */`);
  await ask('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  const view = await viewOfServer(ask);
  requirePrimary(view);
  const { name } = view;
  // A proxy may lead new connections to another server while those that there are stay with theirs. Of two servers of a
  // cluster one is behind: a process that asks both might see that something has happened at the one, and not find it at
  // the other. So all of a pool lead to one server, the one that it met last. A proxy may lead here and there by turns.
  if (usual === undefined || usual === name || renew(at)) usual = name;
}

export async function closeDatabase(): Promise<void> {
  const open = pool;
  pool = undefined;
  misledBefore = 0;
  usual = undefined;
  forgetWriter();
  await open?.destroy();
}

/** A connection, and how to give it back: to the pool that it is of, which may be closing by then and waits for it. */
export async function acquire(): Promise<{ connection: Connection; release: () => Promise<void> }> {
  const { client } = database();
  try {
    await settleDoubt();
    const startedAt = performance.now();
    let connection: Connection = await client.acquireConnection();
    if (performance.now() - startedAt >= stalledAfterMs) {
      doubtWriter();
      if (await settleDoubt()) {
        await client.releaseConnection(connection);
        connection = await client.acquireConnection();
      }
    }
    return { connection, release: () => client.releaseConnection(connection) };
  } catch (error) {
    forgetWriter();
    throw asProblem(error);
  }
}

/** Before a connection is used. True: those that there are lead to a server that has been left, and serve nobody any more. */
async function settleDoubt(): Promise<boolean> {
  const hasLeft = await reviewWriter();
  if (hasLeft) misledBefore = performance.now();
  return hasLeft;
}

export function send<T>(
  connection: Connection,
  prepared: boolean,
  sql: string,
  values: readonly unknown[],
): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let isDone = false;
    let isLate = false;
    const done = (error: unknown, rows?: unknown) => {
      isDone = true;
      clearTimeout(timer);
      if (isLate) doubtWriter();
      if (!error) return resolve(rows as T);
      // A connection that broke or timed out is in an unknown state: it must not serve anyone else.
      if ((error as { fatal?: boolean }).fatal) discard(connection, error);
      else discardIfMisled(connection, error);
      reject(error);
    };
    // Without null the driver reads a text that is whole, however long, for places to put values into.
    const options = { sql, values: !prepared && values.length === 0 ? null : values };
    if (prepared) connection.execute(options, done);
    else connection.query(options, done);
    // Ours, because the driver's own does not count the time in which the server prepares a statement. After the calls:
    // they throw at what they cannot send, and the connection stays good; a closed one answers at once.
    if (isDone) return;
    const limitMs = config.MYSQL_TIMEOUT_SECONDS * 1000;
    const lateMs = Math.min(stalledAfterMs, limitMs / 2);
    timer = setTimeout(() => {
      isLate = true;
      doubtWriter();
      timer = setTimeout(() => {
        // A writer that its group has lost takes statements and ends none of them.
        forgetWriter();
        done(timedOut());
      }, limitMs - lateMs);
    }, lateMs);
  });
}

/** It serves what it has in hand, and nobody after that. */
export function retire(connection: Connection): void {
  connection.__knex__disposed ??= 'retired';
}

function discard(connection: Connection, error: unknown): void {
  connection.__knex__disposed = error;
  connection.destroy();
}

/**
 * After a planned switch the old primary goes on serving the connections that it has, and refuses what they write: only
 * a new connection is led to the new one. The others of the pool are as old, so they go too, each as it comes to be
 * used.
 */
export function discardIfMisled(connection: Connection, error: unknown): void {
  if (!isMisled(error) || connection.__knex__disposed) return;
  discard(connection, error);
  const at = performance.now();
  const isKnown = (connection.madeAt ?? 0) < misledBefore;
  if (!isKnown && renew(at)) forgetWriter();
}

/** Whether work that this connection has refused is worth another one: what it gets then is newer. */
export function isWorthAnother({ madeAt = 0 }: Connection, error: unknown): boolean {
  return isForElsewhere(error) && madeAt < misledBefore;
}

function timedOut(): Error {
  return Object.assign(new Error('A statement was not answered in time'), { fatal: true });
}
