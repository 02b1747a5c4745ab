import type { Redis } from 'ioredis';

export async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 5000 }) as AsyncIterable<string[]>)
    if (keys.length > 0) await redis.unlink(keys);
}
