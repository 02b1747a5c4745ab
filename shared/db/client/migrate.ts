import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { logger } from '../../common/logger.ts';
import { database, isLockConflict, query } from '../client.ts';
import { type MigrationLease, withMigrationLease } from '../migrations/lease.ts';
import type { Migration } from '../migrations/migration.ts';

const sourceOf = (hold: MigrationLease): Knex.MigrationSource<Migration> => ({
  getMigrations: async () => (await import('../migrations/index.ts')).migrations,
  getMigrationName: (migration) => migration.name,
  getMigration: async (migration) => ({
    up: (knex) => runAll(knex, migration.up, hold),
    down: (knex) => runAll(knex, migration.down, hold),
    config: { transaction: false },
  }),
});

// A column or an index that is there, or gone, already: a crash half way, since MySQL commits every DDL statement by
// itself and its ALTER TABLE knows no IF NOT EXISTS.
const alreadyDone = new Set([1060, 1061, 1091]);

// A table is changed once nobody is using it, and whoever comes meanwhile waits behind the change: behind a long
// transaction, such as a backup's, the platform would stand still for as long as that takes. So it lets go and comes again.
const lockWaitSeconds = 2;
const lockPauseMs = 1_000;
const lockTries = 600;

/** Applies the statements of a migration; what is there, or gone, already is passed over. */
export async function runAll(knex: Knex, statements: string[], hold?: MigrationLease): Promise<void> {
  const connection = await knex.client.acquireConnection();
  try {
    await knex.raw(`SET SESSION lock_wait_timeout = ${lockWaitSeconds}`).connection(connection);
    for (const statement of statements) {
      await hold?.confirm();
      await applyStatement(knex, connection, statement);
    }
    // Before Knex notes it as applied.
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
 * Applies what is missing; returns the names applied. Several processes may call it at once. Migrations that this code
 * does not know are those of a newer one, and left alone: an older release can be put back over them.
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
 * Takes back the newest migration, or all of them; returns their names. Data in their tables is lost. Refused where the
 * newest is not one that this code knows: only the newer code can take that back.
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
 * Names of migrations that this code knows and the database lacks. It only reads: Knex would make its tables where they
 * are missing, beside a migration that is just doing so.
 */
export async function pendingMigrations(): Promise<string[]> {
  const applied = await query('SELECT name FROM knex_migrations').catch((error: { errno?: number }) => {
    if (error.errno === noSuchTable) return [];
    throw error;
  });
  const names = new Set(applied.map((row) => row['name'] as string));
  return namesOfMigrations().filter((name) => !names.has(name));
}

/** Knex keeps a lock row too, which a killed migration leaves behind; whoever holds the lease knows that it is stale. */
function withMigrationLock<T>(work: (source: Knex.MigrationSource<Migration>) => Promise<T>): Promise<T> {
  return withMigrationLease(async (hold) => {
    const migrationSource = sourceOf(hold);
    await database()
      .migrate.forceFreeMigrationsLock({ migrationSource })
      .catch(() => undefined);
    return work(migrationSource);
  });
}
