import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gauge } from './metrics.ts';

/**
 * Each wake-up takes about 70 microseconds of CPU time. At 50 ms that was a quarter to a half of what an idle process
 * needs. Shorter delays are often missed; the alarm is about a second.
 */
const resolutionMs = 200;
/** Longer than most pauses between two looks at the metrics, so that a short stall is not missed. */
const windowMs = 30_000;

/**
 * Reports the memory of this process, and for how long something held up its event loop at worst in the last half to
 * one minute. The labels are a part of the names, so that the processes are not added up.
 */
export function watchProcess(type: string, id: string): void {
  const labels = `{type="${type}",id="${id}"}`;
  gauge(`process_resident_memory_bytes${labels}`, () => process.memoryUsage.rss());
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let before = 0;
  let since = performance.now();
  gauge(`process_event_loop_delay_seconds${labels}`, () => {
    // The histogram has the whole time between two wake-ups.
    const worst = Math.max(0, delay.max / 1e6 - resolutionMs) / 1000;
    const shown = Math.max(before, worst);
    if (performance.now() - since > windowMs) {
      before = worst;
      since = performance.now();
      delay.reset();
    }
    return shown;
  });
}
