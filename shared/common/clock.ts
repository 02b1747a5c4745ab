/**
 * The platform's time: MySQL's, so that one node's wrong clock can neither send early nor steal a lease.
 * Between two samples it runs on the monotonic clock, which a jump of the wall clock does not touch.
 */
let offsetMs = Date.now() - performance.now();
/** How far tests have moved the platform's time on, beyond MySQL's. */
let shiftMs = 0;

export function now(): Date {
  return new Date(Math.round(performance.now() + offsetMs + shiftMs));
}

export const fromNow = (ms: number): Date => new Date(now().getTime() + ms);

/** Returns how many seconds ago a time was; 0 if there is no time, or if it is in the future. */
export function secondsSince(since: Date | null | undefined, at: Date = now()): number {
  return since ? Math.max(0, (at.getTime() - since.getTime()) / 1000) : 0;
}

/**
 * MySQL's time without the shift of a test. BullMQ compares its times with the clocks of machines, so jobs use this
 * one.
 */
export function databaseTime(): Date {
  return new Date(Math.round(performance.now() + offsetMs));
}

/**
 * Takes over a sample of MySQL's time, in ms since the epoch, that was read at some time between `from` and `to` on
 * the monotonic clock. The clock moves only as far as the sample proves it wrong: a sample that took seconds, as it
 * may on a busy machine, is less exact than the samples before it. The platform's time is `shift` ms ahead of MySQL's.
 */
export function setClock(epochMs: number, { from, to }: { from: number; to: number }, shift = 0): void {
  offsetMs = Math.min(Math.max(offsetMs, epochMs - to), epochMs - from);
  shiftMs = shift;
}

/** How far apart the clocks of two processes may be, since each follows MySQL's by samples of its own. */
export const skewMs = 250;

/**
 * Returns the time for the question "is it due?": a row that one process makes due now is due for all others too.
 * Without this allowance, a wake-up that is faster than the difference of two clocks would find nothing to do, and the
 * row would wait for the sweep.
 */
export function nowForAll(): Date {
  return fromNow(skewMs);
}
