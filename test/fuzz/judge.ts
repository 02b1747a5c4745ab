import { cpuSlowdown } from '../support/processes/cpu-time.ts';
import { longestStallMs, type Target } from './targets/target.ts';

const tries = 3;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Returns the forbidden behaviour of the target for these bytes, or null. */
export async function faultOf(target: Target, bytes: Buffer): Promise<string | null> {
  const { mostMs: limit = longestStallMs } = target;
  let least = Number.POSITIVE_INFINITY;
  let mostMs = 0;
  // A garbage collection may fall into one try and is not caused by this input, so the fastest try counts.
  for (let count = 0; count < tries && least > mostMs; count += 1) {
    const before = cpuMs();
    try {
      const read = await target.read(bytes);
      mostMs = typeof limit === 'number' ? limit : limit(Number(read));
    } catch (error) {
      return error instanceof Error ? (error.stack ?? error.message).slice(0, 1_000) : String(error);
    }
    least = Math.min(least, cpuMs() - before);
  }
  // A busy machine makes the same work take more CPU time; the slowdown is measured only where it matters.
  if (least <= mostMs || least <= mostMs * cpuSlowdown()) return null;
  return `it takes ${least.toFixed(0)} ms of CPU time, and may take ${mostMs} ms`;
}
