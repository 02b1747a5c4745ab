import { performance } from 'node:perf_hooks';

const sampleMs = 100;
/** Above this utilization of the event loop (0 to 1), the next work waits too long for its turn. */
const mostUtilization = 0.5;
const decrease = 0.5;
const increase = 1;

/**
 * Makes a concurrency limit between `fewest` and `most` that follows the utilization of the event loop (additive
 * increase, multiplicative decrease). Work that waits for another server leaves the loop idle and gets `most` slots.
 * Work that computes gets few slots, so that the process stays quick for other lanes.
 */
export function createAdaptiveLimit({ fewest }: { fewest: number }) {
  let limit = Number.POSITIVE_INFINITY;
  let before = performance.eventLoopUtilization();
  let sampledAt = performance.now();

  /** The limit of this moment. Each call may take a sample, so there is no timer. */
  return (most: number): number => {
    const time = performance.now();
    if (time - sampledAt >= sampleMs) {
      const isStale = time - sampledAt >= 10 * sampleMs;
      const current = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(current, before);
      [before, sampledAt] = [current, time];
      // No caller asked for a while: the mean of that time says nothing about now.
      if (isStale) limit = most;
      else limit = utilization > mostUtilization ? Math.min(limit, most) * decrease : limit + increase;
    }
    limit = Math.max(fewest, Math.min(most, limit));
    return Math.floor(limit);
  };
}
