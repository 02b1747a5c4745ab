import { createHash } from 'node:crypto';
import type { LargeBody } from './spool.ts';

/** Hashes the body's bytes, with `prefix` before them. */
export async function hashOf(body: LargeBody, algorithm: string, prefix = ''): Promise<Buffer> {
  const hash = createHash(algorithm).update(prefix);
  for await (const piece of body.read()) hash.update(piece);
  return hash.digest();
}
