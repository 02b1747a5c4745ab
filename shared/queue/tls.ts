import { readFileSync } from 'node:fs';
import { config } from '../config/config.ts';

/** How the certificate of a Redis at `rediss://`, or at the same with several nodes, is looked at. */
export function redisTls(): { tls?: { rejectUnauthorized: boolean; ca?: Buffer } } {
  if (!config.REDIS_URL.startsWith('rediss')) return {};
  const file = config.REDIS_TLS_CA_FILE;
  return {
    tls: { rejectUnauthorized: config.REDIS_TLS_VERIFY, ...(file && { ca: readFileSync(file) }) },
  };
}
