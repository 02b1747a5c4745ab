import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { problem } from '../../common/errors.ts';
import { logger } from '../../common/logger.ts';
import {
  acquireFromShare,
  type Connection,
  isWorthAnother,
  outsideShares,
  type Param,
  send,
} from './connection.ts';
import { type CountChange, writeChanges } from './counts.ts';
import { asProblem, isLockConflict } from './faults.ts';
import { canShare, commitAlone, commitTogether, type Insert, insertAll } from './group-commit.ts';

/** The unit of work: one transaction, and the actions that run before its commit or after it. */

type Unit = {
  /** Set by the first statement. A unit that only adds new rows may need no connection of its own. */
  opened: Promise<Connection> | undefined;
  /** Set as soon as the pool lends the connection, even if START TRANSACTION then fails. */
  lent: Connection | undefined;
  release: () => Promise<void>;
  /** Whether the commit may be shared with others; false after a shared commit has failed. */
  mayShare: boolean;
  beforeFirst: (() => Promise<void>) | undefined;
  /** To be sent with the commit, or before the next statement. */
  inserts: Insert[];
  /** To be sent with the commit. */
  changes: CountChange[];
  beforeCommit: (() => Promise<void>)[];
  afterCommit: (() => void)[];
  ended: boolean;
};
const units = new AsyncLocalStorage<Unit>();

const newUnit = (given: Partial<Unit>): Unit => ({
  opened: undefined,
  lent: undefined,
  release: async () => undefined,
  mayShare: true,
  beforeFirst: undefined,
  inserts: [],
  changes: [],
  beforeCommit: [],
  afterCommit: [],
  ended: false,
  ...given,
});

function currentUnit(): Unit | undefined {
  const unit = units.getStore();
  if (unit?.ended) throw new Error('A statement was issued after its transaction had ended');
  return unit;
}

/** Runs an action after the commit of the current transaction; at once where there is none. */
export function afterCommit(action: () => void): void {
  const unit = currentUnit();
  if (unit) unit.afterCommit.push(action);
  else runEach([action]);
}

/** Runs the actions. The work is committed, so a failed action is only logged (architecture rule 2). */
function runEach(actions: (() => void)[]): void {
  for (const action of actions) {
    try {
      action();
    } catch (error) {
      logger.error({ err: error }, 'an action after a commit failed');
    }
  }
}

/**
 * Runs an action as the last of the current transaction, once all else in it is written; at once where there is none.
 * For a row that many transactions change: others wait for it only from here to the commit.
 */
export async function beforeCommit(action: () => Promise<void>): Promise<void> {
  const unit = currentUnit();
  if (!unit) return action();
  // The action sends statements, and what comes before the first statement of the unit must not come after other rows.
  await open(unit);
  unit.beforeCommit.push(action);
}

/**
 * Leaves the current transaction's context, for work that serves several callers at once. A workspace whose share of the
 * pool is one connection then need not wait inside its transaction for a second one.
 */
export function outsideTransaction<T>(work: () => T): T {
  return outsideShares(() => units.exit(work));
}

/** Lends the connection of the current transaction, after sending its held-back rows; else one from the pool. */
export async function withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const unit = currentUnit();
  if (unit) {
    const connection = await open(unit);
    await sendHeldBack(unit, connection);
    return work(connection);
  }
  for (;;) {
    const { connection, release } = await acquireFromShare();
    try {
      return await work(connection);
    } catch (error) {
      if (!isWorthAnother(connection, error)) throw asProblem(error);
    } finally {
      await release();
    }
  }
}

/**
 * Reads on one connection, without a transaction: each statement sees all that the statements before it saw. Two
 * connections may lead, for a moment, to two servers of a cluster, of which one is behind.
 */
export async function onOneConnection<T>(read: () => Promise<T>): Promise<T> {
  if (currentUnit()) return read();
  return withConnection(async (connection) => {
    const unit = newUnit({ opened: Promise.resolve(connection) });
    try {
      const result = await units.run(unit, read);
      const { inserts, changes } = unit;
      if (inserts.length + changes.length + unit.beforeCommit.length + unit.afterCommit.length > 0)
        throw new Error('Work that was to read only has written');
      return result;
    } finally {
      unit.ended = true;
    }
  });
}

/**
 * Adds one row whose key is new, so that it cannot conflict with another row. The row is sent before the transaction's
 * next statement, or at its end. A transaction that only adds such rows shares its commit with others of the same
 * moment. `into` is the table with its columns in brackets. A row whose key another transaction may hold names its
 * `holder`.
 */
export async function insertNew(
  into: string,
  values: readonly Param[],
  holder?: Insert['holder'],
): Promise<void> {
  const unit = currentUnit();
  if (unit) unit.inserts.push({ into, values, holder });
  else await withConnection((connection) => insertAll(connection, [{ into, values }]));
}

/** Changes a sharded count at the end of the current transaction; at once where there is none. */
export async function changeCount(change: CountChange): Promise<void> {
  const unit = currentUnit();
  if (unit) unit.changes.push(change);
  else await withConnection((connection) => writeChanges(connection, [change]));
}

/**
 * Runs an action before the current transaction's first statement, or never where no statement comes. Runs it at once
 * outside of a transaction, and in one that has already sent a statement or failed to share its commit.
 */
export async function beforeFirstStatement(action: () => Promise<void>): Promise<void> {
  const unit = currentUnit();
  if (unit && !unit.opened && unit.mayShare) unit.beforeFirst = action;
  else await action();
}

function open(unit: Unit): Promise<Connection> {
  unit.opened ??= begin(unit);
  return unit.opened;
}

async function begin(unit: Unit): Promise<Connection> {
  const { connection, release } = await acquireFromShare();
  unit.release = release;
  unit.lent = connection;
  await send(connection, false, 'START TRANSACTION', []);
  const { beforeFirst } = unit;
  if (beforeFirst)
    // The action runs in a copy of the unit that counts as opened; otherwise its statements would wait for this
    // function.
    await units.run({ ...unit, opened: Promise.resolve(connection), inserts: [] }, beforeFirst);
  return connection;
}

async function sendHeldBack(unit: Unit, connection: Connection): Promise<void> {
  if (unit.inserts.length > 0) await insertAll(connection, unit.inserts.splice(0));
}

/**
 * Runs the unit of work: everything inside commits together or not at all (architecture rule 1). After a deadlock or a
 * lock wait the work runs again, up to three times; after a refusal by a server that has turned read-only, on a new
 * connection. So `work` must do nothing but speak to the database, and make no network call. Inside another transaction
 * it joins that one.
 */
export async function transaction<T>(work: () => Promise<T>): Promise<T> {
  if (currentUnit()) return work();
  let mayShare = true;
  for (let attempt = 1; ; attempt += 1) {
    const unit = newUnit({ mayShare });
    try {
      const result = await units.run(unit, async () => {
        const made = await work();
        for (const action of unit.beforeCommit) await action();
        return made;
      });
      unit.ended = true;
      await commit(unit);
      runEach(unit.afterCommit);
      return result;
    } catch (error) {
      unit.ended = true;
      await rollBack(unit);
      if (error === apart) {
        mayShare = false;
        attempt -= 1;
        continue;
      }
      if (unit.lent && isWorthAnother(unit.lent, error)) {
        attempt -= 1;
        continue;
      }
      if (!isLockConflict(error)) throw asProblem(error);
      if (attempt > 3)
        throw problem('service_unavailable', {
          detail: 'Too many requests changed the same records at the same time. Send this request again',
          retryAfterSeconds: 1,
        });
    } finally {
      await unit.release();
    }
    await sleep(5 * 2 ** attempt * (0.5 + Math.random()));
  }
}

/** Thrown where a shared commit has failed: the work then runs again on a connection of its own. */
const apart = new Error('The commit could not be shared');

async function commit(unit: Unit): Promise<void> {
  const { opened, inserts, changes, mayShare } = unit;
  if (!opened && inserts.length === 0 && changes.length === 0) return;
  if (!opened && mayShare) {
    // Not through `open`: the action before the first statement is only for work that sends statements of its own.
    const commitGroup = canShare(inserts) ? commitTogether : commitAlone;
    if (await commitGroup(inserts, changes)) return;
    throw apart;
  }
  const connection = await open(unit);
  await sendHeldBack(unit, connection);
  await writeChanges(connection, changes);
  await send(connection, false, 'COMMIT', []);
}

async function rollBack(unit: Unit): Promise<void> {
  await unit.opened?.catch(() => undefined);
  // Not `unit.opened`: opening may have failed after START TRANSACTION, in the action before the first statement, and a
  // connection must not go back to the pool with a transaction open.
  if (unit.lent && !unit.lent.__knex__disposed)
    await send(unit.lent, false, 'ROLLBACK', []).catch(() => undefined);
}
