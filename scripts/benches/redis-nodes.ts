import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import * as kept from '../setup/kept.ts';
import { findRedis } from '../setup/servers/programs.ts';
import { startRedis } from '../setup/servers/redis.ts';
import { formCluster, slotCount } from '../setup/servers/redis-cluster.ts';
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

/** Starts a node for each of these prefixes; the keys with a prefix are on its node. */
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
  if (isCluster) {
    const shares = await slotsOf(nodes[0]!, prefixes);
    await formCluster(
      places.map((place, number) => ({ ...place, redis: nodes[number]!, slots: shares[number]! })),
    );
  }
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

/** Returns the slots of each node: those nearest to the slot of its prefix. */
async function slotsOf(node: Redis, prefixes: string[]): Promise<[number, number][]> {
  const own = await Promise.all(prefixes.map((prefix) => node.cluster('KEYSLOT', prefix)));
  const ordered = own.toSorted((one, other) => one - other);
  return own.map((slot) => {
    const place = ordered.indexOf(slot);
    const [before, next] = [ordered[place - 1], ordered[place + 1]];
    return [
      before === undefined ? 0 : middleOf(before, slot),
      next === undefined ? slotCount - 1 : middleOf(slot, next) - 1,
    ];
  });
}

/** Returns the first slot that is nearer to the second one. */
const middleOf = (one: number, other: number) => Math.floor((one + other) / 2) + 1;
