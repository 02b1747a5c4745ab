import { ReplyError } from 'ioredis';
import { producerConnection, type RedisConnection } from './connection.ts';
import { partitions, prefixOf } from './partitions.ts';

/**
 * The first word of the error with which Redis takes no job, such as `MOVED` or `OOM`; `UNREACHABLE` if it does
 * not answer.
 */
export type RedisFault = string;

// Writes as adding a job does: with a script, to several keys of the prefix. A PING would prove less, because a replica
// answers it too, and so does a full Redis, or a Cluster node without these keys.
const script = "for _, key in ipairs(KEYS) do redis.call('SET', key, '', 'PX', 10000) end";

/** Tries what adding a job needs, within about a second; null if Redis takes it in every partition. */
export async function findRedisFault(): Promise<RedisFault | null> {
  const faults = await Promise.all(partitions().map(findFaultOf));
  return faults.find((fault) => fault !== null) ?? null;
}

async function findFaultOf(partition: number): Promise<RedisFault | null> {
  const keys = ['one', 'two'].map((key) => `${prefixOf(partition)}:probe:${key}`);
  try {
    await producerConnection().eval(script, keys.length, ...keys);
    return null;
  } catch (error) {
    return error instanceof ReplyError ? wordOf((error as Error).message) : 'UNREACHABLE';
  }
}

// A probe writes, so its result is kept: otherwise frequent health checks would become a load.
const keptMs = 1_000;
let recent: { connection: RedisConnection; fault: Promise<RedisFault | null>; at: number } | undefined;

/** Returns the fault, as found at most a second ago. */
export function findRecentRedisFault(): Promise<RedisFault | null> {
  const [connection, at] = [producerConnection(), performance.now()];
  if (recent?.connection !== connection || at - recent.at >= keptMs)
    recent = { connection, fault: findRedisFault(), at };
  return recent.fault;
}

/** Returns the code of an error. Redis before 7 puts the code of a script's error at the end of its own message. */
function wordOf(message: string): string {
  return /-([A-Z]{3,})\b/.exec(message)?.[1] ?? /^[A-Z]+\b/.exec(message)?.[0] ?? 'ERR';
}
