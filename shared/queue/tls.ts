import { readFileSync } from 'node:fs';
import { config } from '../config/config.ts';

/** Returns how to check the certificate of a Redis whose address begins with `rediss`, with one node or several. */
export function redisTls(): { tls?: { rejectUnauthorized: boolean; ca?: Buffer } } {
  if (!config.REDIS_URL.startsWith('rediss')) return {};
  const file = config.REDIS_TLS_CA_FILE;
  return {
    tls: { rejectUnauthorized: config.REDIS_TLS_VERIFY, ...(file && { ca: readFileSync(file) }) },
  };
}
