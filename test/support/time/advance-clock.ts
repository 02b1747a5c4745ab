import { now } from '../../../shared/common/clock.ts';
import { atEnd } from '../runner/at-end.ts';
import { shiftClock } from './shift-clock.ts';

let shiftMs = 0;

/**
 * Moves the platform's clock on by so much. It never goes back within a file: ids and marks of the feed carry times,
 * and the tests of a file run in any order.
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
 * The platform's clock follows MySQL's by samples, and steps back where one proves it fast. The first ones may have
 * taken long on a busy machine.
 */
export const clockToleranceMs = 250;

/** Moves the clock on to that time, if it has not come yet, and so far past it that it does not step back before it. */
export async function advanceClockTo(time: Date): Promise<void> {
  await advanceClock(time.getTime() - now().getTime() + clockToleranceMs);
}
