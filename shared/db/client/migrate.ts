import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { logger } from '../../common/logger.ts';
import { database, isLockConflict, query } from '../client.ts';
import { type MigrationLease, withMigrationLease } from '../migrations/lease.ts';
import type { Migration } from '../migrations/migration.ts';

/** Applies and reverts migrations for the operator, and lists the missing ones for a process that starts. */

const sourceOf = (hold: MigrationLease): Knex.MigrationSource<Migration> => ({
  getMigrations: async () => (await import('../migrations/index.ts')).migrations,
  getMigrationName: (migration) => migration.name,
  getMigration: async (migration) => ({
    up: (knex) => runAll(knex, migration.up, hold),
    down: (knex) => runAll(knex, migration.down, hold),
    config: { transaction: false },
  }),
});

// The errors for a column or an index that is there already, or is gone already, because a migration crashed half way.
// MySQL commits every DDL statement by itself, and its ALTER TABLE has no IF NOT EXISTS.
const alreadyDone = new Set([1060, 1061, 1091]);

// A change of a table waits until no transaction uses the table, and all later statements wait behind the change.
// During a long transaction, such as that of a backup, the platform would stop. So the wait is short, and the change is
// tried again.
const lockWaitSeconds = 2;
const lockPauseMs = 1_000;
const lockTries = 600;

/** Applies the statements of a migration; skips a change that has been made already. */
export async function runAll(knex: Knex, statements: string[], hold?: MigrationLease): Promise<void> {
  const connection = await knex.client.acquireConnection();
  try {
    await knex.raw(`SET SESSION lock_wait_timeout = ${lockWaitSeconds}`).connection(connection);
    for (const statement of statements) {
      await hold?.confirm();
      await applyStatement(knex, connection, statement);
    }
    // Confirms the lease before Knex records the migration as applied.
    await hold?.confirm();
  } finally {
    await knex
      .raw('SET SESSION lock_wait_timeout = @@GLOBAL.lock_wait_timeout')
      .connection(connection)
      .catch(() => undefined);
    await knex.client.releaseConnection(connection);
  }
}

async function applyStatement(knex: Knex, connection: unknown, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await knex.raw(statement).connection(connection);
      return;
    } catch (error) {
      if (alreadyDone.has((error as { errno?: number }).errno ?? 0)) return;
      if (!isLockConflict(error) || attempt === lockTries) throw error;
      logger.warn({ attempt }, 'a migration waits for a table that a long transaction is using');
      await sleep(lockPauseMs);
    }
  }
}

/**
 * Applies the missing migrations; returns their names. Several processes may call this at once. Migrations that this
 * code does not know come from newer code and stay: an older release can be put back over them.
 */
export async function migrateUp(): Promise<string[]> {
  return withMigrationLock(
    async (migrationSource) =>
      (
        await database().migrate.latest({ migrationSource, disableMigrationsListValidation: true })
      )[1] as string[],
  );
}

/**
 * Reverts the newest migration, or all of them; returns their names. Data in their tables is lost. Fails where this
 * code does not know the newest migration: only the newer code can revert that.
 */
export async function migrateDown({ all = false } = {}): Promise<string[]> {
  return withMigrationLock(async (migrationSource) => {
    const undone: string[] = [];
    for (;;) {
      const [, names] = await database().migrate.down({ migrationSource });
      undone.push(...(names as string[]));
      if (!all || names.length === 0) return undone;
    }
  });
}

const noSuchTable = 1146;

const folder = join(import.meta.dirname, '../migrations');

/** A migration has the name of its file, so that a process that applies none need not load them all. */
const namesOfMigrations = (): string[] =>
  readdirSync(folder)
    .flatMap((file) => /^(\d{4}_\w+)\.ts$/.exec(file)?.[1] ?? [])
    .toSorted();

/**
 * Lists migrations that this code knows and the database lacks. Only reads: Knex would create its tables where they are
 * missing, perhaps while a migration is doing so.
 */
export async function pendingMigrations(): Promise<string[]> {
  const applied = await query('SELECT name FROM knex_migrations').catch((error: { errno?: number }) => {
    if (error.errno === noSuchTable) return [];
    throw error;
  });
  const names = new Set(applied.map((row) => row['name'] as string));
  return namesOfMigrations().filter((name) => !names.has(name));
}

/**
 * Runs the work under the lease. Knex also keeps a lock row, which a killed migration leaves behind. The holder of the
 * lease knows that such a row is stale, and frees it.
 */
function withMigrationLock<T>(work: (source: Knex.MigrationSource<Migration>) => Promise<T>): Promise<T> {
  return withMigrationLease(async (hold) => {
    const migrationSource = sourceOf(hold);
    await database()
      .migrate.forceFreeMigrationsLock({ migrationSource })
      .catch(() => undefined);
    return work(migrationSource);
  });
}
