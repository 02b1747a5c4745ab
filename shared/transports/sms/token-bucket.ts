import { setTimeout as sleep } from 'node:timers/promises';

/** So many in a second, a tenth of them at once. */
export function tokenBucket(perSecond: number | undefined): {
  take: (longestWaitMs: number) => Promise<boolean>;
} {
  if (perSecond === undefined) return { take: async () => true };
  const eachMs = 1000 / perSecond;
  const burstMs = 100;
  let nextAt = 0;
  return {
    /** False, and nothing taken, where the turn would come too late. */
    take: async (longestWaitMs) => {
      const time = performance.now();
      const at = Math.max(nextAt, time - burstMs);
      if (at - time > longestWaitMs) return false;
      nextAt = at + eachMs;
      if (at > time) await sleep(at - time);
      return true;
    },
  };
}
