import { now } from '../../shared/clock.ts';
import { shiftClock } from './shift-clock.ts';

let shiftMs = 0;

/**
 * Moves the platform's clock on by so much. It never goes back within a file: ids and marks of the feed carry times,
 * and the tests of a file run in any order.
 */
export async function advanceClock(byMs: number): Promise<void> {
  shiftMs += Math.max(0, Math.ceil(byMs));
  await shiftClock(shiftMs);
}

/** Moves the clock on to that time, if it has not come yet. */
export async function advanceClockTo(time: Date): Promise<void> {
  await advanceClock(time.getTime() - now().getTime());
}
