import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { databaseBirth, serverDatabaseName } from './database-name.ts';

/** Opens a connection to the server of a URL, without any database, does the work and closes the connection. */
export async function withServer<T>(of: string, work: (server: mysql.Connection) => Promise<T>): Promise<T> {
  const url = new URL(of);
  url.pathname = '/';
  const server = await mysql.createConnection({ uri: url.href, multipleStatements: true });
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}

export type Servers = { mysqlUrl: string; redisUrl: string };

export async function drop({ mysqlUrl, redisUrl }: Servers, name: string): Promise<void> {
  await withServer(mysqlUrl, (server) => server.query(`DROP DATABASE IF EXISTS \`${name}\``));
  await deleteKeys(redisUrl, `{${name}}`);
}

/** Drops the databases of the tests that nobody needs any more, as `isGone` says, with their keys in Redis. */
export async function dropDatabases(
  servers: Servers,
  isGone: (birth: { epochMs: number; run: string }) => boolean,
): Promise<void> {
  const own = serverDatabaseName(new URL(servers.mysqlUrl));
  const prefix = databaseBirth(own)?.prefix ?? own;
  const [rows] = await withServer(servers.mysqlUrl, (server) =>
    server.query<(mysql.RowDataPacket & { name: string })[]>(
      'SELECT schema_name AS name FROM information_schema.schemata',
    ),
  );
  for (const { name } of rows) {
    const birth = databaseBirth(name);
    if (birth?.prefix === prefix && isGone(birth)) await drop(servers, name);
  }
}

// Deletes all at once, as FLUSHALL does. In pieces, a job added meanwhile could keep its record and lose its place.
const deleteAll = `local keys = redis.call('KEYS', ARGV[1])
  for start = 1, #keys, 1000 do redis.call('UNLINK', unpack(keys, start, math.min(start + 999, #keys))) end`;

export async function deleteKeys(redisUrl: string, prefix: string): Promise<void> {
  const redis = new Redis(redisUrl);
  try {
    await redis.eval(deleteAll, 0, `${prefix}*`);
  } finally {
    redis.disconnect();
  }
}
