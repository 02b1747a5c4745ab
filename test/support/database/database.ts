import mysql from 'mysql2/promise';
import { beforeAll } from 'vitest';
import { databaseTime, setClock } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { migrations } from '../../../shared/db/migrations/index.ts';
import { leaseTable } from '../../../shared/db/migrations/lease.ts';
import { closeEverything, startUp } from '../../../shared/lifecycle.ts';
import { atEnd } from '../runner/at-end.ts';
import { deleteKeys, drop, dropDatabases, withServer } from './drop-databases.ts';
import { type Birth, birthOf, foreignRows, wipe } from './wipe.ts';

/**
 * Gives a test file that needs MySQL or Redis an empty, migrated database. Call it at the top of the file. Files that
 * share a process use one database after another, wiped in between. A file that has changed MYSQL_URL gets its own
 * database.
 */
export function useDatabase(): void {
  beforeAll(async () => {
    if (!process.env['MYSQL_URL'] || !process.env['REDIS_URL'])
      throw new Error('MYSQL_URL and REDIS_URL must name servers for the tests. scripts/test starts them');
    atEnd(takeBackShift);
    // Late work of the file before may have opened connections again, to other servers than this file's settings say.
    await closeEverything();
    const name = databaseOf(config.MYSQL_URL);
    // Only the name counts: through the file's own proxy the database is still the shared one.
    if (name === databaseOf(sharedUrl)) await takeShared(name);
    else {
      const url = config.MYSQL_URL;
      await withServer(url, (server) => create(server, name));
      atEnd(() => drop({ ...servers(), mysqlUrl: url }, name));
    }
    atEnd(closeEverything);
    await startUp();
  });
}

/**
 * Removes the shift of the clock, because the next file may compute times before it has a database, which sets the
 * shift.
 */
function takeBackShift(): void {
  const at = performance.now();
  setClock(databaseTime().getTime(), { from: at, to: at });
}

// The shared database of this process, and its content when it is new. It is dropped when all files have ended.
const sharedUrl = config.MYSQL_URL;
let birth: Birth | undefined;

async function takeShared(name: string): Promise<void> {
  await withServer(sharedUrl, async (server) => {
    if (!birth) {
      await dropLeftOvers();
      await create(server, name);
      birth = await birthOf(server, name);
    }
    // The database was wiped before, so only work that still runs can have written these rows.
    const foreign = await foreignRows(server, name, birth);
    if (foreign.length > 0) {
      await wipeShared(server, name);
      // A request in flight when its file ended may commit once more. If work continues to write, the check after the
      // wipe finds its rows.
      const isOnce = process.env['TEST_PROJECT'] !== 'pure';
      if (isOnce && (await foreignRows(server, name, birth)).length === 0) return;
      throw new Error(`A file before this one still writes rows, into ${foreign.join(', ')}`);
    }
  });
  atEnd(async () => {
    await deleteKeys(config.REDIS_URL, `{${name}}`);
    await withServer(sharedUrl, (server) => wipeShared(server, name));
  });
}

const wipeShared = (server: mysql.Connection, name: string) =>
  wipe(server, name, birth!, async () => {
    await drop(servers(), name);
    await create(server, name);
  });

async function create(server: mysql.Connection, name: string): Promise<void> {
  await server.query(`CREATE DATABASE \`${name}\`; USE \`${name}\`; ${schema()}`);
}

/**
 * Returns SQL that does the same to an empty database as migrateUp, at a third of the cost for each process: all
 * statements at once, and the notes that Knex and the lease keep of them. database.test.ts compares the two.
 */
function schema(): string {
  const notes = migrations.map(({ name }) => `(${mysql.escape(name)}, 1, NOW())`);
  return [
    ...migrations.flatMap(({ up }) => up),
    `CREATE TABLE knex_migrations (id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
       name varchar(255), batch int, migration_time timestamp NULL) DEFAULT CHARACTER SET utf8mb4`,
    `CREATE TABLE knex_migrations_lock (\`index\` int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
       is_locked int) DEFAULT CHARACTER SET utf8mb4`,
    leaseTable,
    `INSERT INTO knex_migrations (name, batch, migration_time) VALUES ${notes.join(', ')}`,
    'INSERT INTO knex_migrations_lock (is_locked) VALUES (0)',
  ].join(';\n');
}

/** Deletes all keys of this file in Redis. FLUSHALL would also delete the keys of files that run at the same time. */
export async function forgetRedis(): Promise<void> {
  await deleteKeys(config.REDIS_URL, config.QUEUE_PREFIX);
}

// No run takes this long, so what is older was left by one that was killed.
const leftOverAfterMs = 3_600_000;

/** Drops what killed runs have left on these servers. */
export async function dropLeftOvers(): Promise<void> {
  await dropDatabases(servers(), ({ epochMs }) => Date.now() - epochMs > leftOverAfterMs);
}

const servers = () => ({ mysqlUrl: sharedUrl, redisUrl: config.REDIS_URL });

function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}
