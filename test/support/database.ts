import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { beforeAll } from 'vitest';
import { config } from '../../shared/config.ts';
import { migrations } from '../../shared/db/migrations/index.ts';
import { closeEverything, startUp } from '../../shared/lifecycle.ts';
import { atEnd } from './at-end.ts';
import { databaseBirth } from './database-name.ts';

/** Call it at the top of a test file that needs MySQL or Redis: it gets an empty, migrated database of its own. */
export function useDatabase(): void {
  beforeAll(async () => {
    if (!process.env['MYSQL_URL'] || !process.env['REDIS_URL'])
      throw new Error('MYSQL_URL and REDIS_URL must name servers for the tests. scripts/test starts them');
    await dropLeftOvers();
    const name = ownName();
    atEnd(() => withServer((server) => drop(server, name)));
    atEnd(closeEverything);
    await withServer((server) => server.query(`CREATE DATABASE \`${name}\`; USE \`${name}\`; ${schema()}`));
    await startUp();
  });
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
  const prefix = databaseBirth(ownName())?.prefix;
  await withServer(async (server) => {
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

function ownName(): string {
  return decodeURIComponent(new URL(config.MYSQL_URL).pathname.slice(1));
}

async function withServer<T>(work: (server: mysql.Connection) => Promise<T>): Promise<T> {
  const url = new URL(config.MYSQL_URL);
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
