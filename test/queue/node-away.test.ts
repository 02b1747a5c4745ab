// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { query } from '../../shared/db/client.ts';
import * as recovery from '../../shared/domain/work/recovery.ts';
import { partitions, prefixOf } from '../../shared/queue/partitions.ts';
import { closeQueues, findRedisFault } from '../../shared/queue/queue.ts';
import { acceptMany } from '../support/data/email-rows.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { askRedis, type RedisGroup, startRedisCluster } from '../support/servers/redis-groups.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const window = 8;
let group: RedisGroup;
beforeAll(async () => {
  group = await startRedisCluster(config.QUEUE_PREFIX);
  for (const { url } of group.nodes)
    await askRedis(url, (redis) => redis.config('SET', 'cluster-require-full-coverage', 'no'));
  changeSettings({ REDIS_URL: group.url, QUEUE_PARTITIONS: 12, EMAIL_JOBS_PER_WORKSPACE: window });
  await closeQueues();
  await waitFor('Redis takes jobs', async () => (await findRedisFault()) === null);
});

/** Returns the partitions whose keys the node has. */
async function partitionsOn({ url }: RedisGroup['primary']): Promise<number[]> {
  const isThere = (partition: number) =>
    askRedis(url, async (redis) => (await redis.exists(prefixOf(partition)).catch(() => null)) !== null);
  const are = await Promise.all(partitions().map(isThere));
  return partitions().filter((partition) => are[partition]);
}

// Shows F40
test('while a node of a Cluster is dead the emails of its partitions go by the others, and hold up none', async () => {
  const emails = await acceptMany(await workspace(), 5 * window);
  await query('UPDATE emails SET parked = 1');
  // Another node's replica cannot take its place.
  const others = (await group.primaries()).filter(({ url }) => url !== group.primary.url);
  const dead = (await partitionsOn(others[0]!)).length > 0 ? others[0]! : others[1]!;
  expect(await partitionsOn(dead)).not.toEqual([]);
  await dead.kill();
  const isParked = async () => Promise.all(emails.map(async ({ read }) => (await read()).parked));
  await waitFor('all have had their jobs', async () => {
    await recovery.sweep();
    // The place in the window that a sent email leaves is for the next one.
    await query("UPDATE emails SET status = 'sent' WHERE parked = 0");
    return !(await isParked()).includes(true);
  });
});
