import { beforeEach, expect, test } from 'vitest';
import { migrateDown, migrateUp, pendingMigrations, runAll } from '../../shared/db/client/migrate.ts';
import { database, query } from '../../shared/db/client.ts';
import { migrations } from '../../shared/db/migrations/index.ts';
import { closeEverything, startUp } from '../../shared/lifecycle.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';

useDatabase();

const names = migrations.map(({ name }) => name);
// Each test begins with all migrations applied, whatever the previous test left.
beforeEach(async () => void (await migrateUp()));

async function tables(): Promise<string[]> {
  const rows = await query(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name',
  );
  return rows.map((row) => row['name'] as string).filter((name) => !name.startsWith('knex_'));
}

/** Returns the definition of every table, without the AUTO_INCREMENT value, which depends on its content. */
async function schema(): Promise<string[]> {
  const created: string[] = [];
  for (const name of await tables()) {
    const [row] = await query(`SHOW CREATE TABLE \`${name}\``);
    created.push((row!['Create Table'] as string).replace(/ AUTO_INCREMENT=\d+/, ''));
  }
  return created;
}

test('up, down and up again ends where it began', async () => {
  const before = await schema();
  expect(before.length).toBeGreaterThan(8);
  expect(await pendingMigrations()).toEqual([]);
  expect(await migrateDown({ all: true })).toEqual(names.toReversed());
  expect(await tables()).toEqual([]);
  expect(await pendingMigrations()).toEqual(names);
  expect(await migrateUp()).toEqual(names);
  expect(await schema()).toEqual(before);
  expect(await migrateUp()).toEqual([]);
});

/** Returns the schema without the order of columns and keys, as a dropped key comes back as the last one. */
async function contents(): Promise<string[]> {
  return (await schema()).map((table) => table.replaceAll(/,$/gm, '').split('\n').toSorted().join('\n'));
}

test('one migration at a time can be taken back and applied again', async () => {
  const before = await contents();
  for (const { up, down } of migrations.toReversed()) {
    const there = await contents();
    await runAll(database(), down);
    await runAll(database(), up);
    expect(await contents()).toEqual(there);
    await runAll(database(), down);
  }
  expect(await tables()).toEqual([]);
  for (const { up } of migrations) await runAll(database(), up);
  expect(await contents()).toEqual(before);
});

test('down takes the newest back, as often as it is asked, and up brings all of them again', async () => {
  const before = await schema();
  for (let count = 1; count <= 3; count += 1) {
    expect(await migrateDown()).toEqual(names.slice(-count).slice(0, 1));
    expect(await pendingMigrations()).toEqual(names.slice(-count));
  }
  expect(await migrateUp()).toEqual(names.slice(-3));
  expect(await schema()).toEqual(before);
});

test('after up again the platform works', async () => {
  await migrateDown({ all: true });
  await migrateUp();
  const { workspaceId } = await workspace();
  expect(workspaceId).toMatch(/^workspace_/);
});

test('every statement may be repeated, since a crash leaves a migration half done', async () => {
  const before = await schema();
  const twice = (statements: string[]) => statements.flatMap((statement) => [statement, statement]);
  for (const { up } of migrations) await runAll(database(), twice(up));
  expect(await schema()).toEqual(before);
  for (const { down } of migrations.toReversed()) await runAll(database(), twice(down));
  expect(await tables()).toEqual([]);
  for (const { up } of migrations) await runAll(database(), up);
  expect(await schema()).toEqual(before);
});

test('processes that start together apply each migration once', async () => {
  await migrateDown({ all: true });
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrateUp()));
  expect(applied.flat()).toEqual(names);
});

test('a lock that a killed migration left behind is freed', async () => {
  await migrateDown();
  await query('UPDATE knex_migrations_lock SET is_locked = 1');
  expect(await migrateUp()).toEqual(names.slice(-1));
});

test('every table compares text as bytes and can be rolled back', async () => {
  const loose = await query(
    `SELECT table_name, column_name, collation_name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name NOT LIKE 'knex%'
       AND collation_name IS NOT NULL AND collation_name NOT LIKE '%\\_bin'`,
  );
  expect(loose).toEqual([]);
  const other = await query(
    `SELECT table_name, engine FROM information_schema.tables
     WHERE table_schema = DATABASE() AND table_name NOT LIKE 'knex%' AND engine <> 'InnoDB'`,
  );
  expect(other).toEqual([]);
});

// The migration that made the last ones STORED says why.
test('no column is VIRTUAL', async () => {
  const columns = await query(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND extra LIKE '%VIRTUAL%'`,
  );
  expect(columns).toEqual([]);
});

test('ids are 16 bytes, and times have milliseconds', async () => {
  const wrong = await query(
    `SELECT table_name, column_name, column_type FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name NOT LIKE 'knex%' AND (
       (column_name LIKE '%\\_at' AND column_type <> 'datetime(3)') OR
       (column_name IN ('workspace_id', 'webhook_id', 'event_id', 'email_id', 'record_id', 'lineage_id')
        AND column_type <> 'binary(16)'))`,
  );
  expect(wrong).toEqual([]);
});

test('nothing starts on a database that lacks a migration', async () => {
  await closeEverything();
  await migrateDown();
  await expect(startUp()).rejects.toThrow(names.at(-1)!);
  await migrateUp();
  await startUp();
});
