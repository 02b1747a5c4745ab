import { sampleClock, updateClockShift } from '../../../shared/db/server/clock.system.ts';

/**
 * Moves the platform's clock away from MySQL's by so much, from the true time and not from the last shift. This process
 * follows before it returns, all others within a moment: wait for what they are to do.
 */
export async function shiftClock(shiftMs: number): Promise<void> {
  await updateClockShift(shiftMs);
  await sampleClock();
}
