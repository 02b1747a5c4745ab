import { crc32 } from 'node:zlib';
import { config } from '../config/config.ts';

/**
 * Each queue is divided into QUEUE_PARTITIONS parts by the ids of its jobs, so that a Redis Cluster can have the parts
 * of its busiest queue on several nodes. After a change of their number, a job may be in a part that no worker reads.
 * The rows say what is due, so the sweep adds a lost job again. A job may also exist twice, after such a change or
 * after a part has taken no jobs for a while. The second copy finds its row done.
 */

/** The numbers of all partitions. */
export const partitions = (): number[] =>
  Array.from({ length: config.QUEUE_PARTITIONS }, (_, index) => index);

const none: ReadonlySet<number> = new Set();

/**
 * Returns the partition of a job. If the usual one is among the `failed`, returns another one; `failed` never has all
 * partitions.
 */
export function partitionOf(jobId: string, failed = none): number {
  const { QUEUE_PARTITIONS: parts } = config;
  if (parts === 1) return 0;
  const hash = crc32(jobId);
  const usual = hash % parts;
  if (!failed.has(usual)) return usual;
  const others = partitions().filter((partition) => !failed.has(partition));
  return others[Math.floor(hash / parts) % others.length]!;
}

/**
 * Returns the prefix of the keys of a partition. The part in braces decides on which node the keys are. The first
 * partition has the keys of an undivided queue.
 */
export function prefixOf(partition: number): string {
  const { QUEUE_PREFIX: prefix } = config;
  if (partition === 0) return prefix;
  const [, before, tag, after] = /^([^{]*)\{([^}]+)\}(.*)$/.exec(prefix) ?? [];
  return tag === undefined ? `{${prefix}-${partition}}` : `${before}{${tag}-${partition}}${after}`;
}
