import { createPrivateKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { forgetAtEnd } from '../../../common/closing.ts';
import { open } from '../../../common/secrets.ts';
import * as db from '../../../db/email/domains.ts';
import { returnPathOf } from './records.ts';

export type SigningDomain = {
  name: string;
  selector: string;
  privateKey: KeyObject;
  /** The host name of the domain that bounces are sent to; null where none is verified. */
  bounceHost: string | null;
};

const cacheMs = 10_000;
const missCacheMs = 500;
const cache = new LRUCache<string, { domain: SigningDomain | null }>({ max: 5_000, ttl: cacheMs });
forgetAtEnd(() => cache.clear());

/** Returns the domain with its key if it may send (verified, or in its grace period), else null. Up to 10 s old. */
export async function findSigningDomain(workspaceId: string, name: string): Promise<SigningDomain | null> {
  const cacheKey = cacheKeyOf(workspaceId, name);
  const known = cache.get(cacheKey);
  if (known) return known.domain;
  const start = performance.now();
  const record = await db.findEmailDomainByName(workspaceId, name);
  const maySend = record && (record.status === 'verified' || record.status === 'warning');
  const domain = maySend
    ? {
        name: record.name,
        selector: record.dkimSelector,
        privateKey: createPrivateKey(open(record.id, record.dkimPrivateKey)),
        bounceHost: returnPathOf(record),
      }
    : null;
  cache.set(cacheKey, { domain }, { start, ttl: domain ? cacheMs : missCacheMs });
  return domain;
}

/** Drops a domain from the cache: this process sees a change at once, the others within the cache's time. */
export function forget(workspaceId: string, name: string): void {
  cache.delete(cacheKeyOf(workspaceId, name));
}

function cacheKeyOf(workspaceId: string, name: string): string {
  return `${workspaceId} ${name}`;
}
