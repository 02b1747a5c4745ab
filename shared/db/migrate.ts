import type { Knex } from 'knex';
import { database } from './client.ts';
import { migrations } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';

const migrationSource: Knex.MigrationSource<Migration> = {
  getMigrations: async () => migrations,
  getMigrationName: (migration) => migration.name,
  getMigration: async (migration) => ({
    up: (knex) => runAll(knex, migration.up),
    down: (knex) => runAll(knex, migration.down),
    config: { transaction: false },
  }),
};

// A column or an index that is there, or gone, already: a crash half way, since MySQL commits every DDL statement by
// itself and its ALTER TABLE knows no IF NOT EXISTS.
const alreadyDone = new Set([1060, 1061, 1091]);

/** Applies the statements of a migration; what is there, or gone, already is passed over. */
export async function runAll(knex: Knex, statements: string[]): Promise<void> {
  for (const statement of statements)
    await knex.raw(statement).catch((error: { errno?: number }) => {
      if (!alreadyDone.has(error.errno ?? 0)) throw error;
    });
}

/** Applies what is missing; returns the names applied. Several processes may call it at once. */
export async function migrateUp(): Promise<string[]> {
  return withMigrationLock(async () => (await database().migrate.latest({ migrationSource }))[1] as string[]);
}

/** Takes back the newest migration, or all of them; returns their names. Data in their tables is lost. */
export async function migrateDown({ all = false } = {}): Promise<string[]> {
  return withMigrationLock(async () => {
    const undone: string[] = [];
    for (;;) {
      const [, names] = await database().migrate.down({ migrationSource });
      undone.push(...(names as string[]));
      if (!all || names.length === 0) return undone;
    }
  });
}

/** Names of migrations that this code knows and the database lacks. */
export async function pendingMigrations(): Promise<string[]> {
  const [, pending] = (await database().migrate.list({ migrationSource })) as [unknown, Migration[]];
  return pending.map(({ name }) => name);
}

/**
 * A named lock that the server itself frees when its holder dies. Knex keeps a lock row too, which a killed
 * migration leaves behind; holding the named lock we know that such a row is stale.
 */
async function withMigrationLock<T>(work: () => Promise<T>): Promise<T> {
  const connection = await database().client.acquireConnection();
  try {
    const [[row]] = (await database()
      .raw("SELECT GET_LOCK(CONCAT('migrate:', MD5(DATABASE())), 120) AS held")
      .connection(connection)) as [{ held: number }[]];
    if (row?.held !== 1) throw new Error('Another migration has been running for two minutes');
    await database()
      .migrate.forceFreeMigrationsLock({ migrationSource })
      .catch(() => undefined);
    return await work();
  } finally {
    await database()
      .raw("DO RELEASE_LOCK(CONCAT('migrate:', MD5(DATABASE())))")
      .connection(connection)
      .catch(() => undefined);
    await database().client.releaseConnection(connection);
  }
}
