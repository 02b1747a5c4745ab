import { LRUCache } from 'lru-cache';
import { config } from '../../../config/config.ts';
import type { EmailKind } from '../../../db/email/emails.ts';

type TokenBucket = { left: number; at: number };

const buckets = new LRUCache<string, TokenBucket>({ max: 10_000 });
const burstSeconds = 10;

/**
 * Returns the lane of an email's job. One-time codes go first, but only up to a rate for each workspace: a workspace
 * that declares all its email as codes would otherwise delay everybody's. Codes above the rate use the transactional
 * lane. Each process has its own token buckets: a rate that is a little too high harms nobody, and no request waits for
 * a shared count.
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
