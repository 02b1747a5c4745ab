import { randomBytes } from 'node:crypto';
import { config } from '../config/config.ts';
import { producerConnection } from '../queue/queue.ts';
import { isReachable, withinLimit } from './rate-limits.ts';

/** Gives the lease back. It ends by itself where nobody does. */
export type EndLease = () => Promise<void>;

const holderBytes = 16;
// Only what is still the holder's: the lease may have ended meanwhile, and be another's.
const script = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * Takes a lease that one holder at a time may have, over all processes; null while another one has it. It is kept in Redis:
 * while that is away or slow everybody gets it, so it is for sparing the machine, and not for what must be right.
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
    // It may have been taken all the same.
    return end;
  }
}
