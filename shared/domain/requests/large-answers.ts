import { LRUCache } from 'lru-cache';
import { now } from '../../common/clock.ts';
import { forgetAtEnd } from '../../common/closing.ts';
import { problem } from '../../common/errors.ts';
import { config } from '../../config/config.ts';

/** How long an answer is kept for its Idempotency-Key. */
export const keptMs = 24 * 3_600_000;
const largeBytes = 16 * 1024;

type KeptBytes = { bytes: number; at: number };
const mostKnown = 10_000;
const keptOf = new LRUCache<string, KeptBytes>({ max: mostKnown });
forgetAtEnd(() => keptOf.clear());

/**
 * Counts an answer that is kept for its key, if it is large: a request of a few bytes can have an answer of megabytes,
 * and the database is there for all. Throws where the workspace has used up its bytes. A leaky bucket, which empties in
 * the time that an answer is kept. Each process counts alone, so that no request waits for a count.
 */
export function countLargeAnswer(workspaceId: string, bytes: number): void {
  const most = config.MAX_STORED_MB * 1_000_000;
  if (most === 0 || bytes <= largeBytes) return;
  const at = now().getTime();
  const known = keptOf.get(workspaceId) ?? { bytes: 0, at };
  const left = Math.max(0, known.bytes - ((at - known.at) / keptMs) * most);
  if (left >= most)
    throw problem('rate_limited', {
      detail: `The large answers that are kept for the Idempotency-Keys of this workspace may have ${config.MAX_STORED_MB} MB in 24 hours.`,
      retryAfterSeconds: 1 + ((left - most) / most) * (keptMs / 1000),
    });
  keptOf.set(workspaceId, { bytes: left + bytes, at });
}
