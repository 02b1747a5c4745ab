import { sampleClock, updateClockShift } from '../../../shared/db/server/clock.system.ts';

/**
 * Shifts the platform's clock by this many milliseconds from MySQL's true time; shifts do not add up. This process
 * follows before the function returns, all other processes a moment later: a test must wait for their effects.
 */
export async function shiftClock(shiftMs: number): Promise<void> {
  await updateClockShift(shiftMs);
  await sampleClock();
}
