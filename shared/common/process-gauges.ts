import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gauge } from './metrics.ts';

/** Longer than most pauses between two looks at the metrics, so that a short stall is not missed. */
const windowMs = 30_000;

/**
 * Reports the memory of this process, and for how long something held up its event loop at worst in the last half to
 * one minute. The labels are a part of the names, so that the processes are not added up.
 */
export function watchProcess(type: string, id: string): void {
  const labels = `{type="${type}",id="${id}"}`;
  gauge(`process_resident_memory_bytes${labels}`, () => process.memoryUsage.rss());
  // Measures each turn of the loop. A timer would wake the process many times a second, and miss short delays.
  const delay = monitorEventLoopDelay({ samplePerIteration: true });
  delay.enable();
  let before = 0;
  let since = performance.now();
  gauge(`process_event_loop_delay_seconds${labels}`, () => {
    const worst = delay.max / 1e9;
    const shown = Math.max(before, worst);
    if (performance.now() - since > windowMs) {
      before = worst;
      since = performance.now();
      delay.reset();
    }
    return shown;
  });
}
