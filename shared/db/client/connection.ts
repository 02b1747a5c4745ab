import { AsyncLocalStorage } from 'node:async_hooks';
import knex, { type Knex } from 'knex';
import { problem } from '../../common/errors.ts';
import { logger } from '../../common/logger.ts';
import { semaphore } from '../../common/semaphore.ts';
import { config } from '../../config/config.ts';
import { asOutage, isForElsewhere, isMisled, isPreparedLimit } from './faults.ts';
import { requirePrimary, viewOfServer } from './membership.ts';
import { doubtWriter, findWriter, forgetWriter, reviewWriter } from './writer.ts';

/**
 * The connection pool of this process. It keeps to one server that takes writes, and gives each workspace a share of
 * its connections.
 */

/** The part of mysql2's callback connection that we use. */
export type Connection = {
  query(options: object, done: (error: unknown, rows: unknown) => void): void;
  execute(options: object, done: (error: unknown, rows: unknown) => void): void;
  destroy(): void;
  __knex__disposed?: unknown;
  /** The server's number for this connection. */
  threadId?: number;
  madeAt?: number;
  /** MySQL, and not MariaDB. */
  isMysql?: boolean;
};
export type Param = string | number | boolean | Date | Buffer | null;
export type Row = Record<string, unknown>;
export type Changed = { affectedRows: number };

// Nobody may wait for ever for a frozen server.
export const acquireTimeoutMs = 5_000;
const connectTimeoutMs = 5_000;
/** A server that takes longer than this for anything may be frozen. */
const stalledAfterMs = 2_000;
// A process that hangs inside a transaction keeps its locks, and others wait for the locked rows, until the server ends
// the connection after this time. The pool itself closes connections that have been idle for 30 seconds.
const idleSeconds = 60;

let pool: Knex | undefined;

/**
 * Connections that are older than this are not lent any more: their server turned read-only, or new connections lead to
 * another server.
 */
let misledBefore = 0;
/** The server that new connections lead to. */
let usual: string | undefined;
// The pool as a whole is renewed at most once in this time, as new connections may lead to the refused server too.
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
    // Otherwise Knex writes its own lines between our JSON log lines.
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

/** Makes all connections older than `at` unusable. Returns false where the pool was renewed just before. */
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
  // By default MariaDB turns an IN list of a thousand values into a table and joins it: the statement reads three times
  // as much, and may read and lock all rows of the other table.
  await ask(`SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
    time_zone = '+00:00', innodb_lock_wait_timeout = 5, wait_timeout = ${idleSeconds}
    /*M! , in_predicate_conversion_threshold = 0 */`);
  await ask('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  const view = await viewOfServer(ask);
  requirePrimary(view);
  const { name, isMysql } = view;
  connection.isMysql = isMysql;
  // A proxy may lead new connections to another server, while the existing ones stay with theirs. One of two servers of
  // a cluster is behind: a process that asks both may learn of a change from one and not find it on the other. So the
  // whole pool uses one server, the one that it reached last. As a proxy may alternate, `renew` limits the changes.
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

type LentConnection = { connection: Connection; release: () => Promise<void> };

/**
 * Lends a connection. `release` returns it to the pool that lent it: even a pool that is closing by then waits for it.
 */
export async function acquire(): Promise<LentConnection> {
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
    throw asOutage(error);
  }
}

/**
 * The connections that workspaces hold. A single workspace holds half of the pool at most. The workspaces with several
 * connections share this half, and the other half is there for workspaces with a single one. So small neighbours take
 * hardly anything from a busy workspace. Of a pool of 20, nine workspaces whose requests all wait for a lock hold 18
 * connections, and a tenth still gets one. The last connection is kept for work that serves several callers, such as
 * shared commits. When all others are held, workspaces take turns.
 */
const shares = semaphore({
  permits: (others) => {
    const half = Math.ceil(config.MYSQL_POOL_SIZE / 2);
    // One connection of the others may be a first one, which comes from the other half.
    return Math.max(1, Math.min(half, half + 1 - others));
  },
  inAll: () => config.MYSQL_POOL_SIZE - 1,
  // Longer than the wait for the pool: a share is smaller, so the requests of a workspace alone wait longer for it.
  waitMs: 2 * acquireTimeoutMs,
});
const sharers = new AsyncLocalStorage<string>();

/** Runs work for a workspace: the connections that the work takes count against the workspace's share of the pool. */
export function inShareOf<T>(workspaceId: string, work: () => T): T {
  return sharers.run(workspaceId, work);
}

/** Runs work that serves several callers at once, so its connections count against nobody's share. */
export function outsideShares<T>(work: () => T): T {
  return sharers.exit(work);
}

/** Lends a connection as soon as the share of the workspace has room, where the work is for one. */
export async function acquireFromShare(): Promise<LentConnection> {
  const workspaceId = sharers.getStore();
  if (workspaceId === undefined) return acquire();
  const leave = await shares.acquire(workspaceId);
  if (!leave)
    throw problem('service_unavailable', {
      detail: 'Too many requests of the workspace wait for the database',
      retryAfterSeconds: 2,
    });
  try {
    const { connection, release } = await acquire();
    return { connection, release: () => release().finally(leave) };
  } catch (error) {
    leave();
    throw error;
  }
}

/**
 * Reviews a doubted writer before a connection is used. True: a new one was chosen, so older connections are unusable.
 */
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
      // A statement that the server does not keep is sent as text.
      if (prepared && isPreparedLimit(error)) return resolve(send<T>(connection, false, sql, values));
      // A connection that broke or timed out is in an unknown state: it must not serve anyone else.
      if ((error as { fatal?: boolean }).fatal) discard(connection, error);
      else discardIfMisled(connection, error);
      reject(error);
    };
    // Null for a text without values: otherwise the driver searches the text, however long, for placeholders.
    const options = { sql, values: !prepared && values.length === 0 ? null : values };
    if (prepared) connection.execute(options, done);
    else connection.query(options, done);
    // We need our own timer: the driver's does not count the time in which the server prepares a statement. The timer
    // starts after the calls: where they throw at a value that they cannot send, the connection stays good; a closed
    // one answers at once.
    if (isDone) return;
    const limitMs = config.MYSQL_TIMEOUT_SECONDS * 1000;
    const lateMs = Math.min(stalledAfterMs, limitMs / 2);
    timer = setTimeout(() => {
      isLate = true;
      doubtWriter();
      timer = setTimeout(() => {
        // A writer that has lost its group accepts statements and never finishes them.
        forgetWriter();
        done(timedOut());
      }, limitMs - lateMs);
    }, lateMs);
  });
}

/** Lets the connection finish its current work; the pool lends it to nobody after that. */
export function retire(connection: Connection): void {
  connection.__knex__disposed ??= 'retired';
}

function discard(connection: Connection, error: unknown): void {
  connection.__knex__disposed = error;
  connection.destroy();
}

/**
 * Discards a connection that leads to the wrong server. After a planned switch the old primary keeps its connections
 * and refuses their writes; only a new connection is led to the new primary. The other connections of the pool are just
 * as old, so each is discarded when somebody wants to use it.
 */
export function discardIfMisled(connection: Connection, error: unknown): void {
  if (!isMisled(error) || connection.__knex__disposed) return;
  discard(connection, error);
  const at = performance.now();
  const isKnown = (connection.madeAt ?? 0) < misledBefore;
  if (!isKnown && renew(at)) forgetWriter();
}

/**
 * Tells whether refused work should be tried on another connection: the pool was renewed since, so that one is newer.
 */
export function isWorthAnother({ madeAt = 0 }: Connection, error: unknown): boolean {
  return isForElsewhere(error) && madeAt < misledBefore;
}

function timedOut(): Error {
  return Object.assign(new Error('A statement was not answered in time'), { fatal: true });
}
