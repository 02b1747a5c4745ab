import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { beforeAll } from 'vitest';
import { config } from '../../shared/config.ts';
import { migrations } from '../../shared/db/migrations/index.ts';
import { closeEverything, startUp } from '../../shared/lifecycle.ts';
import { atEnd } from './at-end.ts';
import { databaseBirth } from './database-name.ts';
import { type Birth, birthOf, foreignRows, wipe } from './wipe.ts';

/**
 * Call it at the top of a test file that needs MySQL or Redis: it gets an empty, migrated database. Files that share a
 * process have the same one after each other, wiped in between; a file that has changed MYSQL_URL gets one of its own.
 */
export function useDatabase(): void {
  beforeAll(async () => {
    if (!process.env['MYSQL_URL'] || !process.env['REDIS_URL'])
      throw new Error('MYSQL_URL and REDIS_URL must name servers for the tests. scripts/test starts them');
    const name = databaseOf(config.MYSQL_URL);
    // Through a proxy of the file's own it is the shared one all the same.
    if (name === databaseOf(sharedUrl)) await takeShared(name);
    else {
      const url = config.MYSQL_URL;
      await withServer(url, (server) => create(server, name));
      atEnd(() => withServer(url, (server) => drop(server, name)));
    }
    atEnd(closeEverything);
    await startUp();
  });
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
    if (foreign.length > 0)
      throw new Error(`A file before this one still writes rows, into ${foreign.join(', ')}`);
  });
  atEnd(() =>
    withServer(sharedUrl, async (server) => {
      await deleteKeys(`{${name}}`);
      await wipe(server, name, birth!, async () => {
        await drop(server, name);
        await create(server, name);
      });
    }),
  );
}

async function create(server: mysql.Connection, name: string): Promise<void> {
  await server.query(`CREATE DATABASE \`${name}\`; USE \`${name}\`; ${schema()}`);
}

/**
 * What migrateUp does to an empty database, at a third of its cost, as each file pays it: all statements at once, and
 * the notes that Knex keeps of them. database.test.ts holds the two against each other.
 */
function schema(): string {
  const notes = migrations.map(({ name }) => `(${mysql.escape(name)}, 1, NOW())`);
  return [
    ...migrations.flatMap(({ up }) => up),
    `CREATE TABLE knex_migrations (id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
       name varchar(255), batch int, migration_time timestamp NULL) DEFAULT CHARACTER SET utf8mb4`,
    `CREATE TABLE knex_migrations_lock (\`index\` int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
       is_locked int) DEFAULT CHARACTER SET utf8mb4`,
    `INSERT INTO knex_migrations (name, batch, migration_time) VALUES ${notes.join(', ')}`,
    'INSERT INTO knex_migrations_lock (is_locked) VALUES (0)',
  ].join(';\n');
}

/** Redis forgets all it knew of this file's world, as FLUSHALL would do if other files did not run beside it. */
export async function forgetRedis(): Promise<void> {
  await deleteKeys(config.QUEUE_PREFIX);
}

// No run takes this long, so what is older was left by one that was killed.
const leftOverAfterMs = 3_600_000;

/** Drops what killed runs have left on these servers. */
export async function dropLeftOvers(): Promise<void> {
  const prefix = databaseBirth(databaseOf(sharedUrl))?.prefix;
  await withServer(sharedUrl, async (server) => {
    const [rows] = await server.query<(mysql.RowDataPacket & { name: string })[]>(
      'SELECT schema_name AS name FROM information_schema.schemata',
    );
    for (const { name } of rows) {
      const birth = databaseBirth(name);
      if (birth && birth.prefix === prefix && Date.now() - birth.epochMs > leftOverAfterMs)
        await drop(server, name);
    }
  });
}

function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}

async function withServer<T>(of: string, work: (server: mysql.Connection) => Promise<T>): Promise<T> {
  const url = new URL(of);
  url.pathname = '/';
  const server = await mysql.createConnection({ uri: url.href, multipleStatements: true });
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}

async function drop(server: mysql.Connection, name: string): Promise<void> {
  await server.query(`DROP DATABASE IF EXISTS \`${name}\``);
  await deleteKeys(`{${name}}`);
}

// At once, as FLUSHALL does it: piece by piece, a job that is added meanwhile could keep its record and lose its place.
const deleteAll = `local keys = redis.call('KEYS', ARGV[1])
  for start = 1, #keys, 1000 do redis.call('UNLINK', unpack(keys, start, math.min(start + 999, #keys))) end`;

async function deleteKeys(prefix: string): Promise<void> {
  const redis = new Redis(config.REDIS_URL);
  try {
    await redis.eval(deleteAll, 0, `${prefix}*`);
  } finally {
    redis.disconnect();
  }
}
