import { Redis } from 'ioredis';
import { config } from '../config.ts';
import { logger } from '../logger.ts';
import { redisTls } from './tls.ts';

let producer: Redis | undefined;

/**
 * After a switch the old primary goes on serving the connections that it has, and takes nothing: only a new one is led to
 * the new primary. What failed meanwhile the sweep finds.
 */
export const leaveReplica = (error: Error): boolean => /\bREADONLY\b/.test(error.message);

/**
 * The connection that adds jobs. It fails at once while Redis is away, because the row in MySQL is what counts
 * and the sweep will find it; workers have connections of their own, which wait.
 */
export function producerConnection(): Redis {
  producer ??= new Redis(config.REDIS_URL, {
    ...redisTls(),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 1000,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    reconnectOnError: leaveReplica,
  }).on('error', (error) => logger.debug({ err: error }, 'redis'));
  return producer;
}

export function closeProducer(): void {
  producer?.disconnect();
  producer = undefined;
}
