import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** A Redis that becomes a node of a cluster. Nodes meet at `bus`, a port that each was started with. */
export interface ClusterNode {
  redis: Redis;
  port: number;
  bus: number;
  /** The first and last slot of the node; undefined for a node that will follow another. */
  slots: [number, number] | undefined;
}

export const slotCount = 16_384;
// A busy machine takes long over it.
const limitMs = 120_000;

/** Makes empty nodes a Redis Cluster; all slots are taken and every node knows all others when it returns. */
export async function formCluster(nodes: ClusterNode[]): Promise<void> {
  for (const [index, { redis, slots }] of nodes.entries()) {
    if (!slots) continue;
    await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', ...slots.map(String));
  }
  const [first, ...others] = nodes as [ClusterNode, ...ClusterNode[]];
  for (const { port, bus } of others)
    await first.redis.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus));
  const isWhole = async ({ redis }: ClusterNode) => {
    const info = await redis.cluster('INFO');
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}\r`);
  };
  for (const since = performance.now(); ; await delay(50)) {
    if ((await Promise.all(nodes.map(isWhole))).every(Boolean)) return;
    if (performance.now() - since > limitMs) throw new Error('The nodes of Redis do not find each other');
  }
}
