import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { ordinaryUser, startOwnMysql, startOwnRedis } from '../../support/servers/own-servers.ts';

/** Starts a MySQL and a Redis for the storm alone, which breaks them. */
export async function startServers() {
  const [database, redis] = await Promise.all([startOwnMysql(), startOwnRedis()]);
  const [{ version }] = await database.query('SELECT VERSION() AS version');
  await database.query(`CREATE DATABASE ${new URL(database.url).pathname.slice(1)}`);
  return {
    version: `MySQL ${version}`,
    mysql: database,
    redis,
    /** URL of an ordinary user, whom `read_only` stops from writing. */
    platformUrl: await ordinaryUser(database),
    withRedis: <Result>(work: (client: Redis) => Promise<Result>) => withRedis(redis.url, work),
    /** Connects as root, past every proxy. */
    withMysql: <Result>(work: (connection: mysql.Connection) => Promise<Result>) =>
      withMysql(database.url, work),
  };
}

export type Servers = Awaited<ReturnType<typeof startServers>>;

async function withRedis<Result>(url: string, work: (client: Redis) => Promise<Result>): Promise<Result> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, commandTimeout: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    client.disconnect();
  }
}

async function withMysql<Result>(
  url: string,
  work: (connection: mysql.Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 5_000 });
  connection.on('error', () => undefined);
  try {
    return await work(connection);
  } finally {
    connection.destroy();
  }
}
