import { randomBytes } from 'node:crypto';
import { config } from '../config/config.ts';
import { producerConnection } from '../queue/queue.ts';
import { isReachable, withinLimit } from './rate-limits.ts';

/** Gives the lease back; otherwise the lease ends by itself. */
export type EndLease = () => Promise<void>;

const holderBytes = 16;
// Deletes the lease only if the holder still has it: it may have ended meanwhile, and belong to another.
const script = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * Takes a lease that only one holder in all processes may have; null while another one has it. The lease is kept in
 * Redis: while Redis is away or slow every caller gets it. So use it to save work, never where correctness depends on
 * it.
 */
export async function takeLease(name: string, seconds: number): Promise<EndLease | null> {
  if (!isReachable()) return async () => undefined;
  const connection = producerConnection();
  const key = `${config.QUEUE_PREFIX}:lease:${name}`;
  const holder = randomBytes(holderBytes).toString('base64url');
  const end = async () => {
    await withinLimit(connection.eval(script, 1, key, holder)).catch(() => undefined);
  };
  try {
    const taken = await withinLimit(connection.set(key, holder, 'EX', seconds, 'NX'));
    return taken === null ? null : end;
  } catch {
    // Redis may have given the lease, although no answer came.
    return end;
  }
}
