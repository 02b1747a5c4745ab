import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { query } from '../../../shared/db/client.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { monitorRedis } from '../../support/servers/redis-monitor.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** Returns every value of every row of the database, by `table.column`. */
export async function storedValues(): Promise<[place: string, value: Buffer][]> {
  const tables = await query<{ name: string }[]>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  const values: [string, Buffer][] = [];
  for (const { name } of tables)
    for (const row of await query(`SELECT * FROM \`${name}\``))
      for (const [column, value] of Object.entries(row))
        if (value !== null) values.push([`${name}.${column}`, bytesOf(value)]);
  return values;
}

function bytesOf(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Returns every key of this test in Redis, with its name and its content. */
export async function redisValues(url: string, prefix: string): Promise<[place: string, value: Buffer][]> {
  const redis = new Redis(url);
  const dump: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, '0', '-1'),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, '0', '-1'),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  try {
    const values: [string, Buffer][] = [];
    for (const key of await redis.keys(`${prefix}*`)) {
      const value = await dump[await redis.type(key)]?.(key);
      values.push([key, Buffer.from(`${key}\n${JSON.stringify(value ?? null)}`)]);
    }
    return values;
  } finally {
    redis.disconnect();
  }
}

/** Records all commands to Redis about keys of this test from now on, because most keys are deleted again soon. */
export async function listenToRedis(url: string, prefix: string): Promise<() => string> {
  const redis = new Redis(url);
  atEnd(() => redis.disconnect());
  const said: string[] = [];
  await monitorRedis(url, (args) => {
    if (args.some((arg) => arg.includes(prefix))) said.push(args.join('\n'));
  });
  await waitFor('it hears', async () => {
    await redis.get(`${prefix}:heard`);
    return said.length > 0;
  });
  return () => said.join('\n');
}

/** Creates a user with a password on each server, and returns URLs for these users. */
export async function withPasswords(mysqlUrl: string, redisUrl: string) {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const passwords = {
    mysql: randomBytes(18).toString('base64url'),
    redis: randomBytes(18).toString('base64url'),
  };
  const server = await mysql.createConnection({ uri: mysqlUrl });
  await server.query(`CREATE USER '${name}'@'%' IDENTIFIED BY '${passwords.mysql}'`);
  await server.query(`GRANT ALL PRIVILEGES ON *.* TO '${name}'@'%'`);
  const redis = new Redis(redisUrl);
  await redis.call('ACL', 'SETUSER', name, 'on', `>${passwords.redis}`, '~*', '&*', '+@all');
  atEnd(async () => {
    await server.query(`DROP USER '${name}'@'%'`);
    await server.end();
    await redis.call('ACL', 'DELUSER', name);
    redis.disconnect();
  });
  const as = (url: string, password: string) => {
    const changed = new URL(url);
    changed.username = name;
    changed.password = password;
    return changed.href;
  };
  return { passwords, mysqlUrl: as(mysqlUrl, passwords.mysql), redisUrl: as(redisUrl, passwords.redis) };
}
