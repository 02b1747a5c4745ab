import { randomUUID } from 'node:crypto';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { logger } from '../../common/logger.ts';
import { changeRows, query, transaction } from '../client.ts';
import { tableOptions } from './migration.ts';

/** Stands beside the tables of Knex, and is created as they are: before any migration. */
export const leaseTable = `CREATE TABLE IF NOT EXISTS knex_migrations_lease (
  id TINYINT NOT NULL PRIMARY KEY,
  holder VARCHAR(200) NOT NULL,
  ends_at DATETIME(3) NOT NULL
) ${tableOptions}`;

const leaseSeconds = 30;
const renewMs = 5_000;
const askMs = 250;
const longestWaitMs = 120_000;

/** `confirm` throws where another run has taken over, because the work must not be done twice. */
export type MigrationLease = { confirm: () => Promise<void> };

/**
 * Runs the work of one release at a time. The lock is a row, since a named lock (GET_LOCK) is known to one node of a
 * cluster only; and a row with an end, since a run that was killed cannot delete it.
 */
export async function withMigrationLease<T>(work: (hold: MigrationLease) => Promise<T>): Promise<T> {
  const holder = `${os.hostname()} ${process.pid} ${randomUUID()}`;
  await take(holder);
  const confirm = async () => {
    const [held] = await query('SELECT 1 FROM knex_migrations_lease WHERE id = 1 AND holder = ?', [holder]);
    if (!held)
      throw new Error(
        'Another run of the migrations has taken over, as this one had been stopped for too long',
      );
  };
  // A statement may take hours.
  const timer = setInterval(() => {
    renew(holder).catch((error) => logger.debug({ err: error }, 'the lease could not be renewed'));
  }, renewMs);
  try {
    return await work({ confirm });
  } finally {
    clearInterval(timer);
    await query('DELETE FROM knex_migrations_lease WHERE id = 1 AND holder = ?', [holder]).catch(
      () => undefined,
    );
  }
}

async function take(holder: string): Promise<void> {
  const giveUpAt = performance.now() + longestWaitMs;
  while (!(await tryToTake(holder))) {
    if (performance.now() > giveUpAt) throw new Error('Another migration has been running for two minutes');
    await sleep(askMs);
  }
}

const noSuchTable = 1146;
const end = `UTC_TIMESTAMP(3) + INTERVAL ${leaseSeconds} SECOND`;

async function tryToTake(holder: string): Promise<boolean> {
  try {
    return (
      (await changes(`INSERT IGNORE INTO knex_migrations_lease VALUES (1, ?, ${end})`, holder)) ||
      (await changes(
        `UPDATE knex_migrations_lease SET holder = ?, ends_at = ${end} WHERE id = 1 AND ends_at < UTC_TIMESTAMP(3)`,
        holder,
      ))
    );
  } catch (error) {
    if ((error as { errno?: number }).errno !== noSuchTable) throw error;
    await query(leaseTable);
    return false;
  }
}

function renew(holder: string): Promise<boolean> {
  return changes(`UPDATE knex_migrations_lease SET ends_at = ${end} WHERE id = 1 AND holder = ?`, holder);
}

/** Runs the statement in a transaction, which is tried again where another node has changed the same row. */
async function changes(statement: string, holder: string): Promise<boolean> {
  return (await transaction(() => changeRows(statement, [holder]))) === 1;
}
