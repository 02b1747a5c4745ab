// @slow: several processes migrate a database at once.
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { migrateDown, migrateUp, pendingMigrations, runAll } from '../../../shared/db/client/migrate.ts';
import { database, query } from '../../../shared/db/client.ts';
import { migrations } from '../../../shared/db/migrations/index.ts';
import { withMigrationLease } from '../../../shared/db/migrations/lease.ts';
import { type CommitCut, startCommitCut } from '../../support/database/commit-cut.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let line: CommitCut;
beforeAll(async () => {
  line = await startCommitCut(config.MYSQL_URL);
  changeSettings({ MYSQL_URL: line.url });
});
useDatabase();

const names = migrations.map(({ name }) => name);
beforeEach(async () => void (await migrateDown({ all: true })));
afterEach(async () => void (await migrateUp()));

const leases = () => query('SELECT holder, ends_at > UTC_TIMESTAMP(3) AS lasts FROM knex_migrations_lease');
/** Ends the lease, as if its holder had not renewed it in time. */
const endLease = () =>
  query('UPDATE knex_migrations_lease SET ends_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND');
const noted = async () =>
  (await query('SELECT name FROM knex_migrations ORDER BY id')).map((row) => row['name'] as string);

// Shows F41
test('runs that meet apply each migration once, also where a named lock is known to one node only', async () => {
  // GET_LOCK answers 1 to everyone on nodes that know nothing of each other's locks.
  for (let run = 1; run <= 4; run += 1) void line.replaceNext('SELECT 1 AS held', /GET_LOCK/);
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrateUp()));
  line.pass();
  expect(applied.flat()).toEqual(names);
  expect(await noted()).toEqual(names);
  expect(await leases()).toEqual([]);
});

// Shows F41
test('a run that was killed holds up the next one until its lease ends, and no longer', async () => {
  const held = line.holdNext('before', /^CREATE TABLE IF NOT EXISTS (?!knex)/);
  const killed = startProcess('scripts/setup/migrate.ts', ['up']);
  await held;
  await killed.kill();
  let hasEnded = false;
  const next = migrateUp().finally(() => {
    hasEnded = true;
  });
  expect(await leases()).toEqual([{ holder: expect.stringContaining(` ${killed.pid} `), lasts: 1 }]);
  expect(hasEnded).toBe(false);
  expect(await pendingMigrations()).toEqual(names);
  await endLease();
  expect(await next).toEqual(names);
  expect(await leases()).toEqual([]);
});

// Shows F41
test('a run that another has taken over does nothing more, and notes nothing', async () => {
  const begun = Promise.withResolvers<void>();
  const thawed = Promise.withResolvers<void>();
  const frozen = withMigrationLease(async (hold) => {
    await hold.confirm();
    begun.resolve();
    await thawed.promise;
    await runAll(database(), ['CREATE TABLE never (id INT PRIMARY KEY)'], hold);
  });
  await begun.promise;
  await endLease();
  expect(await migrateUp()).toEqual(names);
  thawed.resolve();
  await expect(frozen).rejects.toThrow('has taken over');
  expect(await query("SHOW TABLES LIKE 'never'")).toEqual([]);
  expect(await noted()).toEqual(names);
});

test('a run in progress keeps its lease for as long as it takes', async () => {
  await withMigrationLease(async () => {
    await query('UPDATE knex_migrations_lease SET ends_at = UTC_TIMESTAMP(3) + INTERVAL 1 SECOND');
    await waitFor('it is longer again', async () => {
      const [row] = await query(
        'SELECT ends_at > UTC_TIMESTAMP(3) + INTERVAL 10 SECOND AS isLong FROM knex_migrations_lease',
      );
      return row!['isLong'] === 1;
    });
  });
  expect(await leases()).toEqual([]);
});
