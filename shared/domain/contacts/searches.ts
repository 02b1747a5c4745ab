import { type Problem, problem } from '../../common/errors.ts';
import { count } from '../../common/metrics.ts';
import { hasCallerGone, requestCaller } from '../../common/request-context.ts';
import { semaphore } from '../../common/semaphore.ts';
import { config } from '../../config/config.ts';
import { limitTime } from '../../db/client.ts';
import type { ContactSearch } from '../../db/contacts/search.ts';

const searches = semaphore({
  permits: () => config.CONTACT_SEARCHES_AT_ONCE,
  waitMs: 2_000,
  mostWaiting: 100,
});

/**
 * Searches or counts contacts for a request. A workspace runs only a few searches at a time, so that it cannot take
 * the connections that others need. Each search has a time limit, and ends soon after its caller has gone.
 */
export async function searching<T>(
  workspaceId: string,
  filter: ContactSearch,
  run: () => Promise<T>,
): Promise<T> {
  // Without terms, all contacts are read in turn, a page at a time: this is no search.
  if (filter.terms.length === 0) return run();
  return searches.run(workspaceId, refusal, async () => {
    try {
      return await limitTime({ ms: config.CONTACT_SEARCH_SECONDS * 1000, caller: requestCaller() }, run);
    } catch (error) {
      if (hasCallerGone()) count('contact_searches_ended', { reason: 'abandoned' });
      throw error;
    }
  });
}

function refusal(): Problem {
  count('contact_searches_ended', { reason: 'refused' });
  return problem('rate_limited', {
    detail: 'This workspace has too many contact searches running. Wait until one has ended',
    retryAfterSeconds: 1,
  });
}
