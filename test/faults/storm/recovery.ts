import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../../shared/db/client.ts';
import { sampleClock, updateClockShift } from '../../../shared/db/server/clock.system.ts';
import { patiently } from './patience.ts';
import { findUnfinished, type Unfinished } from './rest.ts';

const askEveryMs = 200;
/** Work that is due that soon is waited for. */
const soonMs = 500;
/** The clock is moved on past what is due next, so that there are not as many moves as rows. */
const pastMs = 60_000;

const describe = (all: readonly Unfinished[]): string =>
  all
    .map(({ what, count, dueMs }) => `${count} ${what}, first due ${new Date(dueMs).toISOString()}`)
    .join('; ');

const sayEveryMs = 5_000;

/** Until nothing is due that is not done, twice in a row. Returns what is not done in time; '' is all well. */
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
 * Until there is nothing left to do at all: what is due later (scheduled, retries, phones that wait) becomes due by the
 * platform's clock, which is moved on to it.
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
    // Every process follows within a moment.
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
 * How long each item took that came to its end after the last fault: from the time when it was accepted and due and all
 * was sound again. Before the clock is moved on.
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

/** By table and status: what was accepted, and what came of it. */
export async function countStored(): Promise<Record<string, number>> {
  const rows =
    await query(`SELECT CONCAT('emails ', status) AS what, COUNT(*) AS amount FROM emails GROUP BY 1
    UNION ALL SELECT CONCAT('texts ', status), COUNT(*) FROM sms_messages GROUP BY 1
    UNION ALL SELECT 'events', COUNT(*) FROM events
    UNION ALL SELECT CONCAT('deliveries ', status), COUNT(*) FROM webhook_deliveries GROUP BY 1`);
  return Object.fromEntries(rows.map(({ what, amount }) => [String(what), Number(amount)]));
}
