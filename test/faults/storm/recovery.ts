import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../../shared/db/client.ts';
import { sampleClock, updateClockShift } from '../../../shared/db/server/clock.system.ts';
import { patiently } from './patience.ts';
import { findUnfinished, type Unfinished } from './rest.ts';

const askEveryMs = 200;
/** Work that is due within this time counts as due. */
const soonMs = 500;
/** Each move of the clock goes this far past the next due time, so that there are fewer moves than rows. */
const pastMs = 60_000;

const describe = (all: readonly Unfinished[]): string =>
  all
    .map(({ what, count, dueMs }) => `${count} ${what}, first due ${new Date(dueMs).toISOString()}`)
    .join('; ');

const sayEveryMs = 5_000;

/** Waits until two checks in a row find no due work. Returns the work that is not done in time; '' if all is done. */
export async function untilNothingIsDue(
  limitMs: number,
  log: (text: string) => void = () => undefined,
): Promise<string> {
  const deadline = performance.now() + limitMs;
  let sayAt = performance.now() + sayEveryMs;
  for (let calm = 0; ; ) {
    const { atMs, unfinished } = await patiently(findUnfinished);
    const due = unfinished.filter(({ dueMs }) => dueMs <= atMs + soonMs);
    calm = due.length === 0 ? calm + 1 : 0;
    if (calm === 2) return '';
    if (performance.now() > sayAt) {
      sayAt += sayEveryMs;
      log(`Not done yet: ${describe(due)} (it is ${new Date(atMs).toISOString()})`);
    }
    if (performance.now() > deadline) return `${describe(due)} (it is ${new Date(atMs).toISOString()})`;
    await sleep(askEveryMs);
  }
}

/**
 * Waits until no work is left at all. The platform's clock is moved on to work that is due later (scheduled messages,
 * retries, answers of phones). Returns the work that is not done in time; '' if all is done.
 */
export async function untilAllIsDone(limitMs: number, log: (text: string) => void): Promise<string> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const waiting = await untilNothingIsDue(Math.max(1_000, deadline - performance.now()));
    if (waiting) return waiting;
    const { atMs, unfinished } = await patiently(findUnfinished);
    if (unfinished.length === 0) return '';
    if (performance.now() > deadline) return describe(unfinished);
    const [row] = await patiently(() => query('SELECT shift_ms AS shiftMs FROM clock WHERE id = 1'));
    log(`To be moved on to: ${describe(unfinished)}`);
    const next = Math.min(...unfinished.map(({ dueMs }) => dueMs));
    const shiftMs = Number(row!['shiftMs']) + Math.max(0, next - atMs) + pastMs;
    await patiently(() => updateClockShift(shiftMs));
    await patiently(sampleClock);
    // Gives every process time to follow the clock.
    await sleep(300);
  }
}

export type Recovery = { items: number; p50Ms: number; maxMs: number };

const ends: Record<string, string> = {
  emails: `SELECT GREATEST(created_at, COALESCE(scheduled_at, created_at)) AS due, COALESCE(sent_at, updated_at) AS ended
    FROM emails WHERE status <> 'queued' AND COALESCE(sent_at, updated_at) > ?`,
  texts: `SELECT GREATEST(created_at, COALESCE(scheduled_at, created_at)) AS due, COALESCE(sent_at, updated_at) AS ended
    FROM sms_messages WHERE direction = 'outbound' AND status NOT IN ('queued', 'held') AND COALESCE(sent_at, updated_at) > ?`,
  deliveries: `SELECT created_at AS due, completed_at AS ended
    FROM webhook_deliveries WHERE status = 'delivered' AND attempts = 1 AND completed_at > ?`,
};

/**
 * Measures how long each item took that ended after the last fault, from its due time or from `soundSince`, whichever
 * is later. To be called before the clock is moved on.
 */
export async function measureRecovery(soundSince: Date): Promise<Record<string, Recovery>> {
  const result: Record<string, Recovery> = {};
  for (const [what, sql] of Object.entries(ends)) {
    const rows = await patiently(() => query<{ due: Date; ended: Date }[]>(sql, [soundSince]));
    const took = rows
      .map(({ due, ended }) => Math.max(0, ended.getTime() - Math.max(due.getTime(), soundSince.getTime())))
      .toSorted((a, b) => a - b);
    result[what] = {
      items: took.length,
      p50Ms: took[Math.floor(took.length / 2)] ?? 0,
      maxMs: took.at(-1) ?? 0,
    };
  }
  return result;
}

/** Counts the stored rows by table and status. */
export async function countStored(): Promise<Record<string, number>> {
  const rows =
    await query(`SELECT CONCAT('emails ', status) AS what, COUNT(*) AS amount FROM emails GROUP BY 1
    UNION ALL SELECT CONCAT('texts ', status), COUNT(*) FROM sms_messages GROUP BY 1
    UNION ALL SELECT CONCAT('batches ', state), COUNT(*) FROM sms_batches GROUP BY 1
    UNION ALL SELECT 'events', COUNT(*) FROM events
    UNION ALL SELECT CONCAT('deliveries ', status), COUNT(*) FROM webhook_deliveries GROUP BY 1`);
  return Object.fromEntries(rows.map(({ what, amount }) => [String(what), Number(amount)]));
}
