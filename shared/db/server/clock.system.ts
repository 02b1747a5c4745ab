import { setClock } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import { query } from '../client.ts';

let asked = 0;
let answered = 0;

/**
 * Sets the clock from MySQL's. If the answer to a later query has come first, this answer is dropped, because its shift
 * may be old.
 */
export async function sampleClock(): Promise<void> {
  const sql = config.CLOCK_SHIFTABLE
    ? 'SELECT UTC_TIMESTAMP(3) AS time, shift_ms AS shiftMs FROM clock WHERE id = 1'
    : 'SELECT UTC_TIMESTAMP(3) AS time, 0 AS shiftMs';
  const turn = (asked += 1);
  const from = performance.now();
  const [row] = await query<{ time: Date; shiftMs: number }[]>(sql);
  if (!row || turn < answered) return;
  answered = turn;
  setClock(row.time.getTime(), { from, to: performance.now() }, row.shiftMs);
}

/** Tests only: shifts the clock of every process that has CLOCK_SHIFTABLE set. */
export async function updateClockShift(shiftMs: number): Promise<void> {
  await query('UPDATE clock SET shift_ms = ? WHERE id = 1', [shiftMs]);
}
