import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { migrateUp, pendingMigrations } from '../../../shared/db/client/migrate.ts';
import { closeDatabase, query } from '../../../shared/db/client.ts';
import { migrations } from '../../../shared/db/migrations/index.ts';
import { shiftClock } from '../time/shift-clock.ts';
import { dropLeftOvers, forgetRedis, useDatabase } from './database.ts';
import { newDatabaseName } from './database-name.ts';
import { withServer } from './drop-databases.ts';

useDatabase();

const redis = new Redis(config.REDIS_URL, { lazyConnect: true });
afterAll(() => redis.disconnect());

async function databases(): Promise<string[]> {
  return (await query<{ name: string }[]>('SELECT schema_name AS name FROM information_schema.schemata')).map(
    ({ name }) => name,
  );
}

test('a file has a migrated database of its own, named with its Redis keys', async () => {
  const [row] = await query<{ name: string }[]>('SELECT DATABASE() AS name, shift_ms AS shiftMs FROM clock');
  expect(row?.name).toMatch(/_test_/);
  expect(config.QUEUE_PREFIX).toBe(`{${row?.name}}`);
});

/** Returns every table's definition and rows, without the times at which migrations were applied. */
async function contents(): Promise<object> {
  const tables = await query<{ name: string }[]>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name',
  );
  const built: [built: string, rows: object[]][] = [];
  for (const { name } of tables) {
    const [row] = await query(`SHOW CREATE TABLE \`${name}\``);
    const rows = await query(`SELECT * FROM \`${name}\``);
    built.push([
      (row!['Create Table'] as string).replace(/ AUTO_INCREMENT=\d+/, ''),
      rows.map((each) => ({ ...each, migration_time: null })),
    ]);
  }
  return built;
}

test('the database of a file is, table by table and row by row, what the migrations make', async () => {
  const made = await contents();
  const name = new URL(config.MYSQL_URL).pathname.slice(1);
  // The tables in which Knex keeps its notes are dropped, too.
  // This connection names no database: a connection that the pool opens between the two statements would be refused.
  await withServer(config.MYSQL_URL, (server) =>
    server.query(`DROP DATABASE \`${name}\`; CREATE DATABASE \`${name}\``),
  );
  await closeDatabase();
  expect(await pendingMigrations()).toEqual(migrations.map((migration) => migration.name));
  await migrateUp();
  expect(await contents()).toEqual(made);
});

test('what killed runs have left is dropped with its keys; what runs now and what is not of the tests stays', async () => {
  const own = new URL(config.MYSQL_URL).pathname.slice(1);
  const prefix = own.slice(0, own.lastIndexOf('_test_'));
  const hoursAgo = (hours: number) => Math.floor(Date.now() / 1000 - hours * 3600).toString(36);
  const old = `${prefix}_test_${hoursAgo(2)}_000000000000`;
  const staying = [
    newDatabaseName(prefix),
    `${prefix}_test_report`,
    `other${prefix}_test_${hoursAgo(2)}_00000000`,
  ];
  try {
    for (const name of [old, ...staying]) await query(`CREATE DATABASE \`${name}\``);
    await redis.mset(`{${old}}:jobs`, 1, `{${staying[0]}}:jobs`, 1);
    await dropLeftOvers();
    expect(await databases()).not.toContain(old);
    expect(await databases()).toEqual(expect.arrayContaining([own, ...staying]));
    expect(await redis.exists(`{${old}}:jobs`)).toBe(0);
    expect(await redis.exists(`{${staying[0]}}:jobs`)).toBe(1);
  } finally {
    for (const name of [old, ...staying]) await query(`DROP DATABASE IF EXISTS \`${name}\``);
    await redis.del(`{${staying[0]}}:jobs`);
  }
});

test('Redis forgets the keys of this file and no others', async () => {
  const others = `{${newDatabaseName('messaging')}}:jobs`;
  const own = Array.from({ length: 3000 }, (_, index) => `${config.QUEUE_PREFIX}:jobs:${index}`);
  try {
    await redis.mset(...own.flatMap((key) => [key, 1]), others, 1);
    await forgetRedis();
    expect(await redis.exists(...own)).toBe(0);
    expect(await redis.exists(others)).toBe(1);
  } finally {
    await redis.del(others);
  }
});

test('a shifted clock is followed at once, and shifts do not add up', async () => {
  const dayMs = 86_400_000;
  await shiftClock(dayMs);
  await shiftClock(dayMs);
  const ahead = now().getTime() - Date.now();
  expect(Math.abs(ahead - dayMs)).toBeLessThan(60_000);
  await shiftClock(0);
  expect(Math.abs(now().getTime() - Date.now())).toBeLessThan(60_000);
});
