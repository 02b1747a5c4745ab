import { setTimeout as sleep } from 'node:timers/promises';
import { problem } from '../../common/errors.ts';
import { hasCallerGone, requestCaller } from '../../common/request-context.ts';
import { semaphore } from '../../common/semaphore.ts';
import { config } from '../../config/config.ts';
import { type EndLease, takeLease } from '../../coordination/leases.ts';
import { limitTime } from '../../db/client.ts';

const waitMs = 2_000;
const askAgainMs = 100;

// A second limit, in this process only: while Redis is away, every caller gets a lease.
const inProcess = semaphore({ permits: () => config.REPORTS_AT_ONCE, waitMs, mostWaiting: 100 });

/**
 * Runs a report with a time limit. Only a few run at a time for each workspace, over all processes, so that no
 * workspace takes the connections that others need.
 */
export async function limited<Found>(workspaceId: string, look: () => Promise<Found>): Promise<Found> {
  const waitsUntil = performance.now() + waitMs;
  return inProcess.run(workspaceId, refusal, async () => {
    const end = await takeOneOfLeases(workspaceId, waitsUntil);
    if (!end) throw refusal();
    try {
      return await limitTime({ ms: config.REPORT_SECONDS * 1000, caller: requestCaller() }, look);
    } finally {
      await end();
    }
  });
}

const refusal = () =>
  problem('rate_limited', {
    detail: 'This workspace has too many reports running. Wait until one has ended',
    retryAfterSeconds: 1,
  });

/** Takes one lease of the workspace. Null: other reports held all of them until then. */
async function takeOneOfLeases(workspaceId: string, waitsUntil: number): Promise<EndLease | null> {
  // If this process dies, its lease ends only after the report would have ended.
  const seconds = Math.ceil(config.REPORT_SECONDS) + 1;
  for (;;) {
    for (let place = 0; place < config.REPORTS_AT_ONCE; place += 1) {
      const end = await takeLease(`report:${workspaceId}:${place}`, seconds);
      if (end) return end;
    }
    if (hasCallerGone() || performance.now() >= waitsUntil) return null;
    await sleep(askAgainMs);
  }
}
