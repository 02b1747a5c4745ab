import { setClock } from '../../clock.ts';
import { config } from '../../config.ts';
import { query } from '../client.ts';

/** Sets the clock from MySQL's. */
export async function sampleClock(): Promise<void> {
  const sql = config.CLOCK_SHIFTABLE
    ? 'SELECT UTC_TIMESTAMP(3) AS time, shift_ms AS shiftMs FROM clock WHERE id = 1'
    : 'SELECT UTC_TIMESTAMP(3) AS time, 0 AS shiftMs';
  const from = performance.now();
  const [row] = await query<{ time: Date; shiftMs: number }[]>(sql);
  if (row) setClock(row.time.getTime(), { from, to: performance.now() }, row.shiftMs);
}

/** Tests only: shifts the clock of every process that has CLOCK_SHIFTABLE set. */
export async function updateClockShift(shiftMs: number): Promise<void> {
  await query('UPDATE clock SET shift_ms = ? WHERE id = 1', [shiftMs]);
}
