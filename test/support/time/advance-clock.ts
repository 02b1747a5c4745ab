import { now } from '../../../shared/common/clock.ts';
import { atEnd } from '../runner/at-end.ts';
import { shiftClock } from './shift-clock.ts';

let shiftMs = 0;

/**
 * Moves the platform's clock forward by this many milliseconds. The clock never goes back within a file: ids and marks
 * of the feed contain times, and the tests of a file run in any order.
 */
export async function advanceClock(byMs: number): Promise<void> {
  if (shiftMs === 0)
    atEnd(() => {
      shiftMs = 0;
    });
  shiftMs += Math.max(0, Math.ceil(byMs));
  await shiftClock(shiftMs);
}

/**
 * The platform's clock follows MySQL's clock by samples, and steps back when a sample proves that it is fast. On a busy
 * machine the first samples may have taken long.
 */
export const clockToleranceMs = 250;

/** Moves the clock past this time, if it is in the future, far enough that no step back undoes it. */
export async function advanceClockTo(time: Date): Promise<void> {
  await advanceClock(time.getTime() - now().getTime() + clockToleranceMs);
}
