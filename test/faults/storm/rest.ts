import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';

/**
 * Work in a worker's hands counts as due long since: its time is the end of the lease, and a clock that is moved on to
 * it would have a second worker do it too.
 */
const due = "MIN(IF(lease_token IS NULL, due_at, TIMESTAMP('2000-01-01'))) AS due";

const asked = {
  emails: `SELECT COUNT(*) AS count, ${due} FROM emails WHERE status = 'queued'`,
  texts: `SELECT COUNT(*) AS count, ${due} FROM sms_messages WHERE status = 'queued'`,
  deliveries: `SELECT COUNT(*) AS count, ${due} FROM webhook_deliveries WHERE status = 'pending'`,
  events: 'SELECT COUNT(*) AS count, MIN(occurred_at) AS due FROM events WHERE position IS NULL',
  answers: 'SELECT COUNT(*) AS count, MIN(due_at) AS due FROM simulator_answers',
  settlements: 'SELECT COUNT(*) AS count, MIN(created_at) AS due FROM webhook_settlements',
};

export type Unfinished = { what: string; count: number; dueMs: number };

/**
 * Undone work of each kind, with the earliest time that one is due. Nothing: all has come to rest. `dueMs` in the
 * future: it waits for that time, which the clock can be moved on to. Texts that are held for want of a balance are at rest.
 */
export async function findUnfinished(): Promise<{ atMs: number; unfinished: Unfinished[] }> {
  const unfinished: Unfinished[] = [];
  for (const [what, sql] of Object.entries(asked)) {
    const [row] = await query<{ count: number; due: Date | null }[]>(sql);
    const count = Number(row?.['count']);
    if (count > 0) unfinished.push({ what, count, dueMs: row?.['due']?.getTime() ?? 0 });
  }
  return { atMs: now().getTime(), unfinished };
}
