import { createPrivateKey, type KeyObject } from 'node:crypto';
import { now } from '../clock.ts';
import * as db from '../db/email-domains.ts';
import { generateDkimKey } from '../formats/dkim.ts';
import { newId } from '../formats/ids.ts';
import { open, seal } from '../secrets.ts';

export type SigningDomain = { name: string; selector: string; privateKey: KeyObject };

/** A domain with a new DKIM key. The operator vouches for it, so it may send at once. */
export async function addVerified(workspaceId: string, name: string): Promise<db.EmailDomainRecord> {
  const { privateKeyPem, publicKeyTxt } = await generateDkimKey();
  const time = now();
  const id = newId('domain', time);
  const record: db.EmailDomainRecord = {
    id,
    name,
    status: 'verified',
    dkimSelector: `msg${time.getTime().toString(36)}`,
    dkimPrivateKey: seal(id, privateKeyPem),
    dkimPublicKey: publicKeyTxt,
    createdAt: time,
    verifiedAt: time,
    lastCheckedAt: null,
  };
  await db.insertEmailDomain(workspaceId, record);
  return record;
}

export const findByName = db.findEmailDomain;

type Entry = { domain: SigningDomain | null; readAt: number };
const cacheMs = 10_000;
const missCacheMs = 500;
const cacheSize = 5_000;
const cache = new Map<string, Entry>();

/** The domain's key when it may send (verified, or in its grace), else null. Up to 10 s old. */
export async function findSigningDomain(workspaceId: string, name: string): Promise<SigningDomain | null> {
  const cacheKey = `${workspaceId} ${name}`;
  const known = cache.get(cacheKey);
  if (known && performance.now() - known.readAt < (known.domain ? cacheMs : missCacheMs)) return known.domain;
  const readAt = performance.now();
  const record = await db.findEmailDomain(workspaceId, name);
  const maySend = record && (record.status === 'verified' || record.status === 'warning');
  const domain = maySend
    ? {
        name: record.name,
        selector: record.dkimSelector,
        privateKey: createPrivateKey(open(record.id, record.dkimPrivateKey)),
      }
    : null;
  if (cache.size >= cacheSize) cache.delete(cache.keys().next().value!);
  cache.set(cacheKey, { domain, readAt });
  return domain;
}
