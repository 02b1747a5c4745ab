/**
 * The platform's time: MySQL's, so that one node's wrong clock can neither send early nor steal a lease.
 * Between two samples it runs on the monotonic clock, which a jump of the wall clock does not touch.
 */
let offsetMs = Date.now() - performance.now();

export function now(): Date {
  return new Date(Math.round(performance.now() + offsetMs));
}

/** Takes over a sample of MySQL's time, given in ms since the epoch, read `at` on the monotonic clock. */
export function setClock(epochMs: number, at: number): void {
  offsetMs = epochMs - at;
}
