import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';

/**
 * Leased work counts as due since long ago. Its `due_at` is the end of the lease: if the clock were moved on to that
 * time, a second worker would do the work too.
 */
const due = "MIN(IF(lease_token IS NULL, due_at, TIMESTAMP('2000-01-01'))) AS due";

const asked = {
  emails: `SELECT COUNT(*) AS count, ${due} FROM emails WHERE status = 'queued'`,
  texts: `SELECT COUNT(*) AS count, ${due} FROM sms_messages WHERE status = 'queued'`,
  batches:
    "SELECT COUNT(*) AS count, TIMESTAMP('2000-01-01') AS due FROM sms_batches WHERE expanding = 1 AND state IN ('scheduled', 'processing')",
  deliveries: `SELECT COUNT(*) AS count, ${due} FROM webhook_deliveries WHERE status = 'pending'`,
  events: 'SELECT COUNT(*) AS count, MIN(occurred_at) AS due FROM events WHERE position IS NULL',
  answers: 'SELECT COUNT(*) AS count, MIN(due_at) AS due FROM simulator_answers',
  settlements: 'SELECT COUNT(*) AS count, MIN(created_at) AS due FROM webhook_settlements',
};

export type Unfinished = { what: string; count: number; dueMs: number };

/**
 * Returns the undone work of each kind with its earliest due time; an empty list means that all is done. Work with a
 * `dueMs` in the future waits for that time, and the clock can be moved on to it. Texts held for a balance are no work.
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
