import { LRUCache } from 'lru-cache';
import { now } from '../../common/clock.ts';
import { forgetAtEnd } from '../../common/closing.ts';
import { problem } from '../../common/errors.ts';
import { config } from '../../config/config.ts';
import { afterCommit } from '../../db/client.ts';

/** How long an answer is kept for its Idempotency-Key. */
export const keptMs = 24 * 3_600_000;
const largeBytes = 16 * 1024;

type KeptBytes = { bytes: number; at: number };
const mostKnown = 10_000;
const keptOf = new LRUCache<string, KeptBytes>({ max: mostKnown });
forgetAtEnd(() => keptOf.clear());

/**
 * Counts an answer that is kept for its key, if it is large: a request of a few bytes can have an answer of megabytes,
 * and all workspaces share the database. Throws where the workspace has used up its bytes; only an answer that is
 * committed counts. The count is a leaky bucket, which empties in the time that an answer is kept. Each process counts
 * alone, so that no request waits for a count.
 */
export function admitLargeAnswer(workspaceId: string, bytes: number): void {
  const most = config.MAX_STORED_MB * 1_000_000;
  if (most === 0 || bytes <= largeBytes) return;
  const used = usedBytes(workspaceId, most);
  if (used >= most)
    throw problem('rate_limited', {
      detail: `The answers to requests with an Idempotency-Key are kept for 24 hours. The large answers of this workspace would take more than its ${config.MAX_STORED_MB} MB.`,
      retryAfterSeconds: 1 + ((used - most) / most) * (keptMs / 1000),
    });
  afterCommit(() =>
    keptOf.set(workspaceId, { bytes: usedBytes(workspaceId, most) + bytes, at: now().getTime() }),
  );
}

function usedBytes(workspaceId: string, most: number): number {
  const known = keptOf.get(workspaceId);
  if (!known) return 0;
  return Math.max(0, known.bytes - ((now().getTime() - known.at) / keptMs) * most);
}
