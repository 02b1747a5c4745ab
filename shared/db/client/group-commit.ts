import { batcher } from '../../common/batcher.ts';
import { problem } from '../../common/errors.ts';
import {
  acquire,
  acquireFromShare,
  acquireTimeoutMs,
  type Connection,
  isWorthAnother,
  type Param,
  send,
} from './connection.ts';
import { type CountChange, writeChanges } from './counts.ts';
import { asProblem } from './faults.ts';

/** Group commit: transactions that only insert new rows share one commit. */

/** One new row. `into`: `emails (id, sender, …)`. */
export type Insert = { into: string; values: readonly Param[]; holder?: Holder | undefined };
/**
 * Reads the row that has the key of a new row, for keys that two transactions may insert: `… IN (?) FOR UPDATE NOWAIT`.
 */
type Holder = { sql: string; key: readonly Param[] };

/** A transaction that only adds its own new rows. */
type QueuedTransaction = {
  inserts: readonly Insert[];
  changes: readonly CountChange[];
  hasBegun: boolean;
  isGivenUp: boolean;
};

/** A larger insert commits alone, so that small ones do not wait for another's megabyte. */
const mostCharacters = 64 * 1024;

export function canShare(inserts: readonly Insert[]): boolean {
  let characters = 0;
  for (const { values } of inserts)
    for (const value of values)
      if (typeof value === 'string' || Buffer.isBuffer(value)) characters += value.length;
  return characters <= mostCharacters;
}

/**
 * Commits the transactions of one moment together: five round trips and one flush to disk for all of them. Each
 * transaction is still stored whole or not at all.
 */
const commits = batcher<QueuedTransaction, boolean>({
  maxItems: 50,
  maxInFlight: 3,
  gatherMs: 5,
  run: async (queued) => {
    const together = queued.filter(({ isGivenUp }) => !isGivenUp);
    for (const one of together) one.hasBegun = true;
    const committed =
      together.length > 0 &&
      (await commitAll(
        together.flatMap(({ inserts }) => inserts),
        together.flatMap(({ changes }) => changes),
      ));
    return queued.map(() => committed);
  },
});

/** Commits together with others. False: nothing was changed; another one may be to blame, so try again alone. */
export async function commitTogether(
  inserts: readonly Insert[],
  changes: readonly CountChange[],
): Promise<boolean> {
  const own: QueuedTransaction = { inserts, changes, hasBegun: false, isGivenUp: false };
  let timer: NodeJS.Timeout | undefined;
  // Waiting here is limited to the time that a transaction waits for a connection of its own.
  const givenUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      if (own.hasBegun) return;
      Object.assign(own, { inserts: [], changes: [], isGivenUp: true });
      reject(
        problem('service_unavailable', {
          detail: 'The database is not available at the moment',
          retryAfterSeconds: 2,
        }),
      );
    }, acquireTimeoutMs);
  });
  try {
    return await Promise.race([commits(own), givenUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** Commits on a connection of the workspace's share. False: the database refused a statement, so nothing was changed. */
export function commitAlone(inserts: readonly Insert[], changes: readonly CountChange[]): Promise<boolean> {
  return commitAll(inserts, changes, acquireFromShare);
}

async function commitAll(
  inserts: readonly Insert[],
  changes: readonly CountChange[],
  lend = acquire,
): Promise<boolean> {
  for (;;) {
    const { connection, release } = await lend();
    try {
      await send(connection, false, 'START TRANSACTION', []);
      if (connection.isMysql) await refuseHeld(connection, inserts);
      await insertAll(connection, inserts, insertWithoutWaiting);
      await writeChanges(connection, changes);
      await send(connection, false, 'COMMIT', []);
      return true;
    } catch (error) {
      if (isWorthAnother(connection, error)) continue;
      // The connection broke, so nobody knows whether the commit happened: we must not repeat it.
      if (connection.__knex__disposed) throw asProblem(error);
      await send(connection, false, 'ROLLBACK', []).catch(() => undefined);
      return false;
    } finally {
      await release();
    }
  }
}

// One of the transactions may share a key with a transaction outside the group. The group must not wait for that key:
// only the transaction itself waits, when it is tried alone.
const insertWithoutWaiting = '/*M! SET STATEMENT innodb_lock_wait_timeout = 0 FOR */ INSERT';

/** Fails where another transaction holds one of the keys. MySQL needs it: there INSERT waits at least for a second. */
async function refuseHeld(connection: Connection, inserts: readonly Insert[]): Promise<void> {
  for (const [sql, held] of Map.groupBy(inserts, ({ holder }) => holder?.sql))
    if (sql) await send(connection, false, sql, [held.map(({ holder }) => holder!.key)]);
}

/** Inserts the rows with one statement for each table, in the order in which the tables first come. */
export async function insertAll(
  connection: Connection,
  inserts: readonly Insert[],
  insert = 'INSERT',
): Promise<void> {
  for (const [into, rows] of Map.groupBy(inserts, ({ into }) => into)) {
    const [first, ...others] = rows;
    // As text: a prepared statement for each number of rows would be too many for the server to keep.
    if (others.length > 0)
      await send(connection, false, `${insert} INTO ${into} VALUES ?`, [rows.map(({ values }) => values)]);
    else {
      const places = first!.values.map(() => '?').join(', ');
      await send(connection, true, `${insert} INTO ${into} VALUES (${places})`, first!.values);
    }
  }
}
