import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { type ClusterNode, formCluster, slotCount } from '../../../scripts/setup/servers/redis-cluster.ts';
import { freePort } from '../processes/free-port.ts';
import { waitFor } from '../time/wait-for.ts';
import type { CertificateFiles } from './certificate.ts';
import { type OwnServer, startOwnRedis } from './own-servers.ts';

/** Several Redis nodes of one test file with failover between them; they end with the file. */
export type RedisGroup = {
  /** As REDIS_URL names it, with its password. */
  url: string;
  /** `primary` holds the keys with the prefix at first; `replica` can take its place. */
  primary: OwnServer;
  replica: OwnServer;
  nodes: OwnServer[];
  /** Returns the running nodes that take writes. */
  primaries: () => Promise<OwnServer[]>;
  /** A planned switch: a replica takes the place of that primary, with all its data. */
  switchOver: (primary: OwnServer) => Promise<void>;
  /** Waits until every node runs, and each replica has everything that its primary has. */
  untilWhole: () => Promise<void>;
};

// On a busy machine it may take long until all nodes of a group have joined.
const limit = { timeoutMs: 120_000 };
const placeOf = (url: string) => new URL(url).host;
const portOf = ({ place }: GroupNode) => place.split(':')[1]!;
const schemeOf = (certificate?: CertificateFiles) => (certificate ? 'rediss' : 'redis');

/** Opens a connection to each node, passes them to `ask`, and closes them at the end. */
async function askAll<T>(urls: string[], ask: (connections: Redis[]) => Promise<T>): Promise<T> {
  const connections = urls.map((url) => new Redis(url));
  try {
    return await ask(connections);
  } finally {
    for (const redis of connections) redis.disconnect();
  }
}

export function askRedis<T>(url: string, ask: (redis: Redis) => Promise<T>): Promise<T> {
  return askAll([url], ([redis]) => ask(redis!));
}

/** `place` is the host and port for the other nodes and the platform. With a certificate, the port is a TLS port. */
type GroupNode = OwnServer & { place: string };

async function startNode(
  password: string,
  options: string[],
  certificate?: CertificateFiles,
): Promise<GroupNode> {
  if (!certificate) {
    const node = await startOwnRedis({ password, options });
    return { ...node, place: placeOf(node.url) };
  }
  const port = await freePort();
  const isInCluster = options.includes('--cluster-enabled');
  const ofTls = {
    'tls-port': String(port),
    'tls-cert-file': certificate.cert,
    'tls-key-file': certificate.key,
    'tls-ca-cert-file': certificate.cert,
    'tls-auth-clients': 'no',
    'tls-replication': 'yes',
    // As in a managed Cluster: the nodes announce host names, and their certificate contains these names.
    ...(isInCluster && {
      'tls-cluster': 'yes',
      'cluster-announce-hostname': 'localhost',
      'cluster-preferred-endpoint-type': 'hostname',
    }),
  };
  const more = Object.entries(ofTls).flatMap(([name, value]) => [`--${name}`, value]);
  return {
    ...(await startOwnRedis({ password, options: [...options, ...more] })),
    place: `${isInCluster ? 'localhost' : '127.0.0.1'}:${port}`,
  };
}

/** Starts nodes that share one password, for clients and for each other. */
async function startNodes(
  options: string[][],
  certificate?: CertificateFiles,
): Promise<{ nodes: GroupNode[]; password: string }> {
  const password = randomBytes(18).toString('hex');
  const nodes = await Promise.all(
    options.map((each) => startNode(password, [...each, '--masterauth', password], certificate)),
  );
  return { nodes, password };
}

const roleOf = (node: OwnServer): Promise<{ isPrimary: boolean; isLinked: boolean }> =>
  askRedis(node.url, async (redis) => {
    const said = await redis.info('replication');
    return { isPrimary: said.includes('role:master'), isLinked: said.includes('master_link_status:up') };
  });

const follows = (node: OwnServer) =>
  waitFor('the replica has all that its primary has', async () => (await roleOf(node)).isLinked, limit);

/** Returns functions for a group in which `primariesWanted` nodes take writes, and the others follow them. */
function groupOf(nodes: OwnServer[], primariesWanted: number) {
  const roles = async () =>
    Promise.all(
      nodes.map(async (node) => ({ node, ...(node.isRunning() && (await roleOf(node).catch(() => null))) })),
    );
  return {
    primaries: async () => (await roles()).flatMap(({ node, isPrimary }) => (isPrimary ? [node] : [])),
    untilWhole: async () =>
      void (await waitFor(
        'every node is there',
        async () => {
          const all = await roles();
          const primaries = all.filter(({ isPrimary }) => isPrimary).length;
          return (
            primaries === primariesWanted && all.every(({ isPrimary, isLinked }) => isPrimary || isLinked)
          );
        },
        limit,
      )),
  };
}

type SentinelOptions = { sentinels?: number; downAfterMs?: number; certificate?: CertificateFiles };

/** Starts a primary, its replica, and Sentinels with a password of their own. */
export async function startSentinels({
  sentinels: count = 1,
  downAfterMs = 500,
  certificate,
}: SentinelOptions = {}): Promise<RedisGroup> {
  const ofSentinels = randomBytes(18).toString('hex');
  const [{ nodes, password }, sentinels] = await Promise.all([
    startNodes([[], []], certificate),
    Promise.all(Array.from({ length: count }, () => startNode(ofSentinels, ['--sentinel'], certificate))),
  ]);
  const [primary, replica] = nodes as [GroupNode, GroupNode];
  await askRedis(replica.url, (redis) => redis.replicaof('127.0.0.1', portOf(primary)));
  await follows(replica);
  const quorum = String(Math.floor(count / 2) + 1);
  for (const sentinel of sentinels)
    await askRedis(sentinel.url, async (redis) => {
      // The Sentinels also ask each other, so each needs their password.
      await redis.call('SENTINEL', 'CONFIG', 'SET', 'sentinel-pass', ofSentinels);
      await redis.call('SENTINEL', 'MONITOR', 'mail', '127.0.0.1', portOf(primary), quorum);
      const settings = {
        'auth-pass': password,
        'down-after-milliseconds': downAfterMs,
        'failover-timeout': 10_000,
      };
      for (const [name, value] of Object.entries(settings))
        await redis.call('SENTINEL', 'SET', 'mail', name, String(value));
    });
  for (const sentinel of sentinels)
    await askRedis(sentinel.url, async (redis) => {
      const known = async (what: string) =>
        ((await redis.call('SENTINEL', what, 'mail')) as unknown[]).length;
      const knowsAll = async () =>
        (await known('REPLICAS')) === 1 && (await known('SENTINELS')) === count - 1;
      await waitFor('the Sentinel knows the replica and the others', knowsAll, limit);
    });
  const places = sentinels.map(({ place }) => place).join(',');
  return {
    url: `${schemeOf(certificate)}+sentinel://:${password}@${places}/mail?sentinelPassword=${ofSentinels}`,
    primary,
    replica,
    nodes,
    ...groupOf(nodes, 1),
    switchOver: async () =>
      void (await askRedis(sentinels[0]!.url, (redis) => redis.call('SENTINEL', 'FAILOVER', 'mail'))),
  };
}

type ClusterOptions = { replicas?: 1 | 3; nodeTimeoutMs?: number; certificate?: CertificateFiles };

/** Starts three primaries, and a replica of the one that holds the keys with this prefix, or a replica of each. */
export async function startRedisCluster(
  prefix: string,
  { replicas: replicaCount = 1, nodeTimeoutMs = 1_000, certificate }: ClusterOptions = {},
): Promise<RedisGroup> {
  const buses: number[] = [];
  for (let number = 0; number < 3 + replicaCount; number += 1) buses.push(await freePort());
  const { nodes, password } = await startNodes(
    buses.map((bus) => [
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      String(bus),
      '--cluster-node-timeout',
      String(nodeTimeoutMs),
    ]),
    certificate,
  );
  const primaries = nodes.slice(0, 3);
  const replicas = nodes.slice(3);
  const share = Math.ceil(slotCount / primaries.length);
  const slotsOf = (index: number): ClusterNode['slots'] =>
    index < primaries.length ? [index * share, Math.min(slotCount, (index + 1) * share) - 1] : undefined;
  const urls = nodes.map(({ url }) => url);
  const own = await askAll(urls, async (connections) => {
    await formCluster(
      connections.map((redis, index) => ({
        redis,
        port: Number(portOf(nodes[index]!)),
        bus: buses[index]!,
        slots: slotsOf(index),
      })),
    );
    return connections[0]!.cluster('KEYSLOT', prefix);
  });
  const owner = primaries[Math.floor(own / share)]!;
  const others = primaries.filter((node) => node !== owner);
  for (const [index, followed] of [owner, ...others].slice(0, replicaCount).entries()) {
    const id = await askRedis(followed.url, (redis) => redis.cluster('MYID'));
    await askRedis(replicas[index]!.url, (redis) => redis.cluster('REPLICATE', id));
  }
  await Promise.all(replicas.map(follows));
  return {
    url: `${schemeOf(certificate)}+cluster://:${password}@${[owner, ...others].map(({ place }) => place).join(',')}`,
    primary: owner,
    replica: replicas[0]!,
    nodes,
    ...groupOf(nodes, primaries.length),
    async switchOver(primary) {
      const known = await askRedis(primary.url, async (redis) => {
        const id = await redis.cluster('MYID');
        return (await redis.call('CLUSTER', 'REPLICAS', id)) as string[];
      });
      const replica = nodes.find(({ url }) => known.some((line) => line.includes(` ${placeOf(url)}@`)));
      if (!replica) throw new Error(`${placeOf(primary.url)} has no replica`);
      await askRedis(replica.url, (redis) => redis.call('CLUSTER', 'FAILOVER'));
    },
  };
}
