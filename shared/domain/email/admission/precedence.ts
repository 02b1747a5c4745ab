import { LRUCache } from 'lru-cache';
import { config } from '../../../config/config.ts';
import type { EmailKind } from '../../../db/email/emails.ts';

type Bucket = { left: number; at: number };

const buckets = new LRUCache<string, Bucket>({ max: 10_000 });
const burstSeconds = 10;

/**
 * The lane of an email's job. One-time codes go before all else, but of one workspace only so many: one that calls all
 * of its email so would otherwise hold up everybody's. The rest goes as its transactional email does. Counted by each
 * process for itself: a rate a little higher than was set harms nobody, and no request waits for it.
 */
export function laneOf(kind: EmailKind, workspaceId: string): EmailKind {
  return kind !== 'authentication' || takeToken(workspaceId) ? kind : 'transactional';
}

function takeToken(workspaceId: string): boolean {
  const perSecond = config.EMAIL_AUTHENTICATION_PER_SECOND;
  if (perSecond === 0) return true;
  const burst = Math.max(1, perSecond * burstSeconds);
  const at = performance.now();
  const known = buckets.get(workspaceId);
  const left = known ? Math.min(burst, known.left + ((at - known.at) / 1000) * perSecond) : burst;
  buckets.set(workspaceId, { left: left >= 1 ? left - 1 : left, at });
  return left >= 1;
}
