import { Redis } from 'ioredis';
import { freePort } from '../processes/processes.ts';
import { waitFor } from '../time/wait-for.ts';
import { type OwnServer, startOwnRedis } from './own-servers.ts';

/** Several Redis of one test file that stand in for each other; they end with the file. */
export type RedisGroup = {
  /** As REDIS_URL names it, with its password. */
  url: string;
  /** The node that holds the keys with this prefix at first, and the one that takes its place. */
  primary: OwnServer;
  replica: OwnServer;
  nodes: OwnServer[];
};

// A busy machine takes long over it.
const limit = { timeoutMs: 60_000 };
const placeOf = (url: string) => new URL(url).host;
const portOf = (url: string) => Number(new URL(url).port);
const passwordOf = (url: string) => new URL(url).password;

/** Asks one node, over a connection of its own. */
export async function askRedis<T>(url: string, ask: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
}

/** All nodes take the same password, for callers and for each other. */
async function startNodes(options: string[][]): Promise<{ nodes: OwnServer[]; password: string }> {
  const nodes = await Promise.all(options.map((each) => startOwnRedis({ options: each })));
  const password = passwordOf(nodes[0]!.url);
  await Promise.all(
    nodes.map((node) =>
      askRedis(node.url, async (redis) => {
        await redis.config('SET', 'masterauth', password);
        await redis.config('SET', 'requirepass', password);
      }),
    ),
  );
  return {
    password,
    nodes: nodes.map((node) => ({ ...node, url: node.url.replace(passwordOf(node.url), password) })),
  };
}

const follows = (node: OwnServer) =>
  waitFor(
    'the replica has all that its primary has',
    () => askRedis(node.url, async (redis) => /master_link_status:up/.test(await redis.info('replication'))),
    limit,
  );

/** A primary, its replica, and a Sentinel with a password of its own. */
export async function startSentinels(): Promise<RedisGroup> {
  const [{ nodes, password }, sentinel] = await Promise.all([
    startNodes([[], []]),
    startOwnRedis({ options: ['--sentinel'] }),
  ]);
  const [primary, replica] = nodes as [OwnServer, OwnServer];
  await askRedis(replica.url, (redis) => redis.replicaof('127.0.0.1', portOf(primary.url)));
  await follows(replica);
  await askRedis(sentinel.url, async (redis) => {
    await redis.call('SENTINEL', 'MONITOR', 'mail', '127.0.0.1', String(portOf(primary.url)), '1');
    const settings = { 'auth-pass': password, 'down-after-milliseconds': 500, 'failover-timeout': 10_000 };
    for (const [name, value] of Object.entries(settings))
      await redis.call('SENTINEL', 'SET', 'mail', name, String(value));
    const knows = async () => ((await redis.call('SENTINEL', 'REPLICAS', 'mail')) as unknown[]).length === 1;
    await waitFor('the Sentinel knows the replica', knows, limit);
  });
  return {
    url: `redis+sentinel://:${password}@${placeOf(sentinel.url)}/mail?sentinelPassword=${passwordOf(sentinel.url)}`,
    primary,
    replica,
    nodes,
  };
}

const slots = 16_384;

/** Three primaries, and a replica of the one that holds the keys with this prefix. */
export async function startRedisCluster(prefix: string): Promise<RedisGroup> {
  const buses = await Promise.all(Array.from({ length: 4 }, freePort));
  const { nodes, password } = await startNodes(
    buses.map((bus) => [
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      String(bus),
      '--cluster-node-timeout',
      '1000',
    ]),
  );
  const primaries = nodes.slice(0, 3);
  const replica = nodes[3]!;
  const share = Math.ceil(slots / primaries.length);
  for (const [index, { url }] of primaries.entries())
    await askRedis(url, async (redis) => {
      await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      const last = Math.min(slots, (index + 1) * share) - 1;
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last));
    });
  const owner = await askRedis(nodes[0]!.url, async (redis) => {
    for (const [index, { url }] of nodes.entries())
      if (index > 0)
        await redis.call('CLUSTER', 'MEET', '127.0.0.1', String(portOf(url)), String(buses[index]));
    return primaries[Math.floor((await redis.cluster('KEYSLOT', prefix)) / share)]!;
  });
  await Promise.all(nodes.map((node) => isWhole(node, nodes.length)));
  const id = await askRedis(owner.url, (redis) => redis.cluster('MYID'));
  await askRedis(replica.url, (redis) => redis.cluster('REPLICATE', id));
  await follows(replica);
  const others = primaries.filter((node) => node !== owner);
  return {
    url: `redis+cluster://:${password}@${[owner, ...others].map(({ url }) => placeOf(url)).join(',')}`,
    primary: owner,
    replica,
    nodes,
  };
}

const isWhole = (node: OwnServer, count: number) =>
  waitFor(
    'the nodes know each other',
    () =>
      askRedis(node.url, async (redis) => {
        const info = await redis.cluster('INFO');
        return /cluster_state:ok/.test(info) && info.includes(`cluster_known_nodes:${count}`);
      }),
    limit,
  );
