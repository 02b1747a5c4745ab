import { ReplyError } from 'ioredis';
import { producerConnection, type RedisConnection } from './connection.ts';
import { partitions, prefixOf } from './partitions.ts';

/**
 * The fault that keeps Redis from taking jobs: `MOVED`, `READONLY`, `OOM` or another of the words that its errors begin
 * with; `UNREACHABLE` where it says nothing.
 */
export type RedisFault = string;

// As a job is added: by a script, which writes to several keys of the prefix. A PING is answered by a replica too, by a
// Redis that is full, and by a node of a cluster that has others of its keys.
const script = "for _, key in ipairs(KEYS) do redis.call('SET', key, '', 'PX', 10000) end";

/** Tries what adding a job needs, within a second or so; null where Redis takes it, in each partition. */
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

// Looking writes: a health check must not be a load, however many ask.
const keptMs = 1_000;
let recent: { connection: RedisConnection; fault: Promise<RedisFault | null>; at: number } | undefined;

/** The same as of at most a second ago. */
export function findRecentRedisFault(): Promise<RedisFault | null> {
  const [connection, at] = [producerConnection(), performance.now()];
  if (recent?.connection !== connection || at - recent.at >= keptMs)
    recent = { connection, fault: findRedisFault(), at };
  return recent.fault;
}

/** Redis before 7 says what a script has met at the end of a message of its own. */
function wordOf(message: string): string {
  return /-([A-Z]{3,})\b/.exec(message)?.[1] ?? /^[A-Z]+\b/.exec(message)?.[0] ?? 'ERR';
}

/** Whether Redis takes jobs. */
export async function isRedisUp(): Promise<boolean> {
  return (await findRedisFault()) === null;
}
