import { execute, query } from '../client.ts';

/** The counters that all processes share. */

type Counter =
  /** The position of the newest numbered event. One process at a time numbers events. */
  | 'events.position'
  /** The position of the last event that is counted for reports. One process at a time counts. */
  | 'reports.position'
  /** The time, in milliseconds, up to which ledger entries are in the sums by hour. One process at a time adds to them. */
  | 'sms_ledger.summed';

/** Returns the counter and locks it until the transaction ends. */
export async function findCounterForUpdate(name: Counter): Promise<number> {
  const sql = `SELECT value FROM counters WHERE name = '${name}' FOR UPDATE`;
  const [row] = await execute<{ value: number }[]>(sql);
  return row!.value;
}

export async function updateCounter(name: Counter, value: number): Promise<void> {
  await query('UPDATE counters SET value = ? WHERE name = ?', [value, name]);
}
