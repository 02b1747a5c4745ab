import { Problem, problem } from '../../errors.ts';

function errorCode(error: unknown): string {
  return (error as { code?: string } | null)?.code ?? '';
}

function errorNumber(error: unknown): number {
  return Number((error as { errno?: unknown } | null)?.errno ?? 0);
}

// Deadlock, lock wait, and what a migration that changed the table meanwhile makes of it: definition changed, to be prepared anew.
const lockConflicts = new Set([1213, 1205, 1412, 1615]);

/** Nothing is wrong with the work, it only met another. */
export function isLockConflict(error: unknown): boolean {
  return lockConflicts.has(errorNumber(error));
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
const unavailableNumbers = new Set([
  1021, 1040, 1053, 1114, 1203, 1205, 1213, 1290, 1412, 1615, 1792, 1836, 1927,
]);

/** A fault of the database or the way to it becomes 503 service_unavailable; anything else stays as it is. */
export function asProblem(error: unknown): unknown {
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
