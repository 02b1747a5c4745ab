import { crc32 } from 'node:zlib';
import { config } from '../config/config.ts';

/**
 * Each queue is spread over QUEUE_PARTITIONS parts by the ids of its jobs, so that a Redis Cluster can have the parts of its
 * busiest queue on several nodes. After a change of their number a job may stand where nobody looks, or a second time
 * elsewhere: the rows say what is due, so the sweep makes the one anew, and the other finds its row done.
 */

/** The numbers of all partitions. */
export const partitions = (): number[] =>
  Array.from({ length: config.QUEUE_PARTITIONS }, (_, index) => index);

export function partitionOf(jobId: string): number {
  return config.QUEUE_PARTITIONS === 1 ? 0 : crc32(jobId) % config.QUEUE_PARTITIONS;
}

/**
 * The beginning of the keys of a partition. The part in braces decides on their node. The first has the keys that a single
 * one would have.
 */
export function prefixOf(partition: number): string {
  const { QUEUE_PREFIX: prefix } = config;
  if (partition === 0) return prefix;
  const [, before, tag, after] = /^([^{]*)\{([^}]+)\}(.*)$/.exec(prefix) ?? [];
  return tag === undefined ? `{${prefix}-${partition}}` : `${before}{${tag}-${partition}}${after}`;
}
