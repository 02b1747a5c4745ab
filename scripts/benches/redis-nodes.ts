import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import * as kept from '../setup/kept.ts';
import { findRedis } from '../setup/servers/programs.ts';
import { startRedis } from '../setup/servers/redis.ts';
import * as session from '../setup/start/session.ts';

/** One Redis, or a Redis Cluster of several that all take writes. */
interface RedisNodes {
  /** As REDIS_URL names it. */
  url: string;
  pids: number[];
  /** How many commands each has carried out since it was started, those of scripts too. */
  commands: () => Promise<number[]>;
  clear: () => Promise<void>;
  stop: () => Promise<void>;
}

const slots = 16_384;
const startLimitMs = 60_000;

/** A node for each of these prefixes of keys, and the keys with it are there. */
export async function startRedisNodes(folder: string, prefixes: string[]): Promise<RedisNodes> {
  const program = await findRedis(session.log);
  const password = randomBytes(18).toString('hex');
  const isCluster = prefixes.length > 1;
  const servers: Awaited<ReturnType<typeof startRedis>>[] = [];
  const places: { port: number; bus: number }[] = [];
  for (const number of prefixes.keys()) {
    const own = path.join(folder, String(number));
    // A node remembers the cluster that it was in.
    fs.rmSync(own, { recursive: true, force: true });
    const place = {
      port: await kept.port(folder, `node-${number}`),
      bus: await kept.port(folder, `bus-${number}`),
    };
    places.push(place);
    const options = isCluster ? { clusterPort: place.bus } : {};
    servers.push(await startRedis(program, own, place.port, password, options));
  }
  const nodes = servers.map(({ url }) => new Redis(url, { maxRetriesPerRequest: 3 }));
  if (isCluster) await join(nodes, places, prefixes);
  const infoOf = async (section: string, field: string) =>
    Promise.all(
      nodes.map(async (node) =>
        Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(await node.info(section))?.[1]),
      ),
    );
  const hosts = places.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    url: isCluster ? `redis+cluster://:${password}@${hosts}` : servers[0]!.url,
    pids: await infoOf('server', 'process_id'),
    commands: () => infoOf('stats', 'total_commands_processed'),
    clear: async () => void (await Promise.all(nodes.map((node) => node.flushall()))),
    async stop() {
      for (const node of nodes) node.disconnect();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

async function join(
  nodes: Redis[],
  places: { port: number; bus: number }[],
  prefixes: string[],
): Promise<void> {
  const [first] = nodes as [Redis];
  const wanted: { node: Redis; slot: number }[] = [];
  for (const [number, node] of nodes.entries())
    wanted.push({ node, slot: await first.cluster('KEYSLOT', prefixes[number]!) });
  wanted.sort((one, other) => one.slot - other.slot);
  for (const [number, { node, slot }] of wanted.entries()) {
    const before = wanted[number - 1];
    const next = wanted[number + 1];
    const from = before ? middleOf(before.slot, slot) : 0;
    const to = next ? middleOf(slot, next.slot) - 1 : slots - 1;
    await node.call('CLUSTER', 'SET-CONFIG-EPOCH', String(number + 1));
    await node.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
  }
  for (const { port, bus } of places.slice(1))
    await first.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus));
  const isWhole = async (node: Redis) => {
    const info = await node.cluster('INFO');
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`);
  };
  for (const since = performance.now(); ; await delay(50)) {
    if ((await Promise.all(nodes.map(isWhole))).every(Boolean)) return;
    if (performance.now() - since > startLimitMs)
      throw new Error('The nodes of Redis do not find each other');
  }
}

/** The first slot of those that are nearer to the second. */
const middleOf = (one: number, other: number) => Math.floor((one + other) / 2) + 1;
