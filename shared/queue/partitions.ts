import { crc32 } from 'node:zlib';
import { config } from '../config/config.ts';

/**
 * Each queue is divided into QUEUE_PARTITIONS parts by the ids of its jobs, so that a Redis Cluster can have the parts
 * of its busiest queue on several nodes. After a change of their number a job may be in a part that no worker reads,
 * or exist twice. The rows say what is due, so the sweep adds the lost job again, and the second copy of a job finds
 * its row done.
 */

/** The numbers of all partitions. */
export const partitions = (): number[] =>
  Array.from({ length: config.QUEUE_PARTITIONS }, (_, index) => index);

export function partitionOf(jobId: string): number {
  return config.QUEUE_PARTITIONS === 1 ? 0 : crc32(jobId) % config.QUEUE_PARTITIONS;
}

/**
 * Returns the prefix of the keys of a partition. The part in braces decides on which node they are. The first
 * partition has the keys that an undivided queue would have.
 */
export function prefixOf(partition: number): string {
  const { QUEUE_PREFIX: prefix } = config;
  if (partition === 0) return prefix;
  const [, before, tag, after] = /^([^{]*)\{([^}]+)\}(.*)$/.exec(prefix) ?? [];
  return tag === undefined ? `{${prefix}-${partition}}` : `${before}{${tag}-${partition}}${after}`;
}
