import { Problem, problem } from '../../common/errors.ts';

/** Sorts the errors of the database by what helps against them, for the retries of transactions and for answers. */

function errorCode(error: unknown): string {
  return (error as { code?: string } | null)?.code ?? '';
}

function errorNumber(error: unknown): number {
  return Number((error as { errno?: unknown } | null)?.errno ?? 0);
}

/**
 * `conflict`: the work conflicted with other work and was rolled back; a retry may well succeed. `elsewhere`: this
 * server takes no writes, or nothing at all, and has not run the statement. A new connection may lead to the server
 * that takes writes. `unknown`: the commit failed, but other members of the group may still have the transaction.
 * `outage`: nothing is wrong with the work, and only waiting helps.
 */
type DatabaseFault = 'conflict' | 'elsewhere' | 'unknown' | 'outage';

// By error number, because MariaDB's error names differ.
const faults = new Map<number, DatabaseFault>([
  [3, 'outage'], // a write to a file failed; a full disk has many numbers, by the file that it meets first
  [1021, 'outage'], // disk full
  [1026, 'outage'], // the same, of a file of the server's own
  [1030, 'outage'], // the storage engine refused, mostly for a full disk
  [1037, 'outage'], // out of memory
  [1038, 'outage'], // no memory to sort
  [1040, 'outage'], // too many connections
  [1041, 'outage'], // out of memory or of swap space
  [1047, 'elsewhere'], // Galera: a node without its quorum, or one that has not caught up
  [1053, 'outage'], // shutting down
  [1114, 'outage'], // no room for the table
  [1135, 'outage'], // no thread for a connection
  [1180, 'unknown'], // Galera: the quorum was lost during COMMIT
  [1203, 'outage'], // too many connections of this user
  [1205, 'conflict'], // lock wait
  [1213, 'conflict'], // deadlock; Galera: another node has changed the same rows
  [1226, 'outage'], // a limit of this account, of connections or of statements an hour
  [1290, 'elsewhere'], // read_only, super_read_only
  [1317, 'outage'], // statement killed
  [1412, 'conflict'], // a migration has changed the table meanwhile
  [1615, 'conflict'], // the same: the statement must be prepared again
  [1792, 'elsewhere'], // sessions are read-only by default
  [1836, 'elsewhere'], // read-only, as the server was started
  [1927, 'outage'], // connection killed
  [3032, 'outage'], // offline mode, in which Group Replication puts members that it has expelled
  [3100, 'unknown'], // Group Replication: a member that cannot reach its group at COMMIT
  [3101, 'conflict'], // Group Replication: another member has changed the same rows
  [3169, 'outage'], // session killed
]);

const faultOf = (error: unknown) => faults.get(errorNumber(error));

/** Tells whether the work only conflicted with other work: nothing is wrong with the work itself. */
export function isLockConflict(error: unknown): boolean {
  return faultOf(error) === 'conflict';
}

/** Tells whether the server of this connection refused the statement unrun; another server may run it. */
export function isForElsewhere(error: unknown): boolean {
  return faultOf(error) === 'elsewhere';
}

/** Tells whether the connection leads to a server that cannot do our work, and would stay with that server for good. */
export function isMisled(error: unknown): boolean {
  const fault = faultOf(error);
  return fault === 'elsewhere' || fault === 'unknown';
}

/** Tells whether the server, for all its connections, has as many prepared statements as it may. */
export function isPreparedLimit(error: unknown): boolean {
  return errorNumber(error) === 1461;
}

export function isDuplicateKey(error: unknown): boolean {
  return errorNumber(error) === 1062;
}

/**
 * Tells whether another transaction has the lock: 1205 after waiting, and at once after NOWAIT, where MySQL says 3572.
 */
export function isLockWait(error: unknown): boolean {
  const number = errorNumber(error instanceof Problem ? error.cause : error);
  return number === 1205 || number === 3572;
}

const lostConnection =
  /^(ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|PROTOCOL_CONNECTION_LOST|PROTOCOL_SEQUENCE_TIMEOUT)$/;

// The messages for a closed connection, for a closed pool, and for a pool that closes while somebody waits for a
// connection (tarn), in this order.
const lostPool = /closed state|Unable to acquire|^aborted$/;

/** Turns a fault of the database, or of the way to it, into 503 service_unavailable; returns other errors unchanged. */
export function asProblem(error: unknown): unknown {
  // mysql2 puts the statement with all its values into `sql`, and errors are logged.
  if (error instanceof Error) delete (error as { sql?: string }).sql;
  if (error instanceof Problem) return error;
  const unavailable =
    lostConnection.test(errorCode(error)) ||
    faultOf(error) !== undefined ||
    (error as Error | null)?.name === 'KnexTimeoutError' ||
    (error as { fatal?: boolean } | null)?.fatal === true ||
    lostPool.test(String((error as Error | null)?.message));
  return unavailable ? asOutage(error) : error;
}

/**
 * Turns any error into 503 service_unavailable: that of a connection that cannot be opened, whatever the reason, says
 * nothing about the work that wants the connection.
 */
export function asOutage(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const refusal = problem('service_unavailable', {
    detail: 'The database is not available at the moment',
    retryAfterSeconds: 2,
  });
  refusal.cause = error;
  return refusal;
}
