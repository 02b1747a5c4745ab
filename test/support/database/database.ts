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
 * Call it at the top of a test file that needs MySQL or Redis: it gets an empty, migrated database. Files that share a
 * process have the same one after each other, wiped in between; a file that has changed MYSQL_URL gets one of its own.
 */
export function useDatabase(): void {
  beforeAll(async () => {
    if (!process.env['MYSQL_URL'] || !process.env['REDIS_URL'])
      throw new Error('MYSQL_URL and REDIS_URL must name servers for the tests. scripts/test starts them');
    atEnd(takeBackShift);
    // Work of the file before may have opened connections again at its end, not to where this file's settings say.
    await closeEverything();
    const name = databaseOf(config.MYSQL_URL);
    // Through a proxy of the file's own it is the shared one all the same.
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

/** The next file may compute times before it has the database, from which the clock's shift comes. */
function takeBackShift(): void {
  const at = performance.now();
  setClock(databaseTime().getTime(), { from: at, to: at });
}

// The database of this process, and what it holds when it is new. It goes when all files have ended.
const sharedUrl = config.MYSQL_URL;
let birth: Birth | undefined;

async function takeShared(name: string): Promise<void> {
  await withServer(sharedUrl, async (server) => {
    if (!birth) {
      await dropLeftOvers();
      await create(server, name);
      birth = await birthOf(server, name);
    }
    // Only what still runs can have written them.
    const foreign = await foreignRows(server, name, birth);
    if (foreign.length > 0) {
      await wipeShared(server, name);
      // A request that was in hand when its file ended may commit once more; what goes on writing shows again.
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
 * It does to an empty database as migrateUp does, at a third of its cost, for each process: all statements at once, and
 * the notes that Knex and the lease keep of them. database.test.ts holds the two against each other.
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

/** Redis forgets all it knew of this file's world, as FLUSHALL would do if other files did not run beside it. */
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
