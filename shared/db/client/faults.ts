import { Problem, problem } from '../../common/errors.ts';

function errorCode(error: unknown): string {
  return (error as { code?: string } | null)?.code ?? '';
}

function errorNumber(error: unknown): number {
  return Number((error as { errno?: unknown } | null)?.errno ?? 0);
}

/**
 * `conflict`: the work met another's and was taken back; the same work may well be done at the next try.
 * `elsewhere`: this server takes no writes, or nothing at all, and has not done the statement. A new connection may lead
 * to the server that does.
 * `unknown`: it failed while it committed, and the other members of its group may have the transaction all the same.
 * `outage`: nothing is wrong with the work, and nothing but waiting helps.
 */
type DatabaseFault = 'conflict' | 'elsewhere' | 'unknown' | 'outage';

// By number, as MariaDB's names differ.
const faults = new Map<number, DatabaseFault>([
  [1021, 'outage'], // disk full
  [1040, 'outage'], // too many connections
  [1047, 'elsewhere'], // Galera: a node without its quorum, or one that has not caught up
  [1053, 'outage'], // shutting down
  [1114, 'outage'], // no room for the table
  [1180, 'unknown'], // Galera: the quorum was lost during COMMIT
  [1203, 'outage'], // too many connections of this user
  [1205, 'conflict'], // lock wait
  [1213, 'conflict'], // deadlock; Galera: another node has changed the same rows
  [1290, 'elsewhere'], // read_only, super_read_only
  [1317, 'outage'], // statement killed
  [1412, 'conflict'], // a migration has changed the table meanwhile
  [1615, 'conflict'], // the same: to be prepared anew
  [1792, 'elsewhere'], // sessions are read-only by default
  [1836, 'elsewhere'], // read-only, as the server was started
  [1927, 'outage'], // connection killed
  [3032, 'outage'], // offline mode, in which Group Replication puts members that it has expelled
  [3100, 'unknown'], // Group Replication: a member that cannot reach its group at COMMIT
  [3101, 'conflict'], // Group Replication: another member has changed the same rows
  [3169, 'outage'], // session killed
]);

const faultOf = (error: unknown) => faults.get(errorNumber(error));

/** Nothing is wrong with the work, it only met another. */
export function isLockConflict(error: unknown): boolean {
  return faultOf(error) === 'conflict';
}

/** The server of this connection has not done the statement; another one may. */
export function isForElsewhere(error: unknown): boolean {
  return faultOf(error) === 'elsewhere';
}

/** The connection leads to a server that does not take what there is to do, and would go on doing so for good. */
export function isMisled(error: unknown): boolean {
  const fault = faultOf(error);
  return fault === 'elsewhere' || fault === 'unknown';
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
  /^(ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|PROTOCOL_CONNECTION_LOST|PROTOCOL_SEQUENCE_TIMEOUT)$/;

// A connection that has been closed, a pool that has been, and one that closes before a connection has come (tarn).
const lostPool = /closed state|Unable to acquire|^aborted$/;

/** A fault of the database or the way to it becomes 503 service_unavailable; anything else stays as it is. */
export function asProblem(error: unknown): unknown {
  // mysql2 puts the statement with all its values there, and errors are logged.
  if (error instanceof Error) delete (error as { sql?: string }).sql;
  if (error instanceof Problem) return error;
  const unavailable =
    lostConnection.test(errorCode(error)) ||
    faultOf(error) !== undefined ||
    (error as Error | null)?.name === 'KnexTimeoutError' ||
    (error as { fatal?: boolean } | null)?.fatal === true ||
    lostPool.test(String((error as Error | null)?.message));
  if (!unavailable) return error;
  const refusal = problem('service_unavailable', {
    detail: 'The database is not available',
    retryAfterSeconds: 2,
  });
  refusal.cause = error;
  return refusal;
}
