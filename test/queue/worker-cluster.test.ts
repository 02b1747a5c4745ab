// @slow: it starts processes or servers of its own.
import type { Cluster } from 'ioredis';
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { connectToRedis, type RedisConnection } from '../../shared/queue/connection.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { askRedis, type RedisGroup, startRedisCluster } from '../support/servers/redis-groups.ts';
import { waitFor } from '../support/time/wait-for.ts';

let group: RedisGroup;
let own: RedisConnection;
let duplicates: Cluster[];
beforeAll(async () => {
  group = await startRedisCluster(config.QUEUE_PREFIX);
  const replicaPort = new URL(group.replica.url).port;
  await waitFor('each node names the replica', async () => {
    const known = await Promise.all(
      group.nodes.map(({ url }) => askRedis(url, (redis) => redis.cluster('SLOTS'))),
    );
    return known.every((slots) => JSON.stringify(slots).includes(replicaPort));
  });
  changeSettings({ REDIS_URL: group.url });
  own = connectToRedis({ maxRetriesPerRequest: null });
  duplicates = Array.from({ length: 10 }, () => (own as Cluster).duplicate());
  atEnd(() => {
    for (const connection of [own, ...duplicates]) connection.disconnect();
  });
});

/** Returns how many times the nodes were asked for the slots. */
async function timesAsked(): Promise<number> {
  const nodes = await Promise.all(
    group.nodes.map(({ url }) => askRedis(url, (redis) => redis.info('commandstats'))),
  );
  return nodes.reduce(
    (sum, info) => sum + Number(/^cmdstat_cluster\|slots:calls=(\d+)/m.exec(info)?.[1] ?? 0),
    0,
  );
}

const refreshes = (connection: RedisConnection, count: number) =>
  new Promise<void>((resolve) => {
    let left = count;
    connection.on('refresh', () => {
      left -= 1;
      if (left === 0) resolve();
    });
  });

// Shows F40
test('connections that wait for jobs learn of a lost node from one that asks, and do not ask all the time', async () => {
  const key = config.QUEUE_PREFIX;
  for (const one of [own, ...duplicates]) await one.get(key);
  const before = await timesAsked();
  await refreshes(own, 2);
  expect((await timesAsked()) - before).toBeLessThan(duplicates.length);

  group.primary.freeze();
  const answers = duplicates.map((one) => one.get(key));
  await waitFor('each has the answer of the node that has replaced the frozen one', async () => {
    await Promise.all(answers);
    return true;
  });
}, 120_000);
