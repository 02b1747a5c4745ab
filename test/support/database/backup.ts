import { Redis } from 'ioredis';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { atEnd } from '../runner/at-end.ts';
import { storedColumns } from './copied-rows.ts';
import { forgetRedis } from './database.ts';

/** Not restored: the time of a test does not go back when its data does. */
const clockTable = 'clock';

async function tables(): Promise<string[]> {
  const rows = await query<{ name: string }[]>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()
     AND table_name NOT LIKE 'knex%' AND table_name NOT LIKE 'backup\\_%' AND table_name <> '${clockTable}'`,
  );
  return rows.map(({ name }) => name);
}

async function copy(from: string, to: string): Promise<void> {
  const columns = await storedColumns(from);
  await query('INSERT INTO ?? (??) SELECT ?? FROM ??', [to, columns, columns, from]);
}

/** Copies all rows in MySQL; `restore` replaces the rows of that moment with the copy. Nobody may write meanwhile. */
export async function backUpMysql(): Promise<{ restore: () => Promise<void> }> {
  const copied = await tables();
  for (const name of copied) {
    atEnd(() => query('DROP TABLE IF EXISTS ??', [`backup_${name}`]));
    await query('DROP TABLE IF EXISTS ??', [`backup_${name}`]);
    await query('CREATE TABLE ?? LIKE ??', [`backup_${name}`, name]);
    await copy(name, `backup_${name}`);
  }
  return {
    restore: async () => {
      for (const name of copied) {
        await query('DELETE FROM ??', [name]);
        await copy(`backup_${name}`, name);
      }
    },
  };
}

/** Reads all keys at one moment: a list of jobs that is read before or after the jobs would name missing jobs. */
const dumpAll = `
  local all = {}
  for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
    all[#all + 1] = key
    all[#all + 1] = redis.call('DUMP', key)
  end
  return all`;

/** Copies all keys of this test file in Redis; `restore` puts them back. */
export async function backUpRedis(): Promise<{ restore: () => Promise<void> }> {
  const redis = new Redis(config.REDIS_URL);
  try {
    const found = (await redis.callBuffer('EVAL', dumpAll, 0, `${config.QUEUE_PREFIX}*`)) as Buffer[];
    const kept = Array.from(
      { length: found.length / 2 },
      (_, index) => [found[2 * index]!, found[2 * index + 1]!] as const,
    );
    return {
      restore: async () => {
        await forgetRedis();
        const again = new Redis(config.REDIS_URL);
        try {
          for (const [key, value] of kept) await again.restore(key, 0, value, 'REPLACE');
        } finally {
          again.disconnect();
        }
      },
    };
  } finally {
    redis.disconnect();
  }
}
