import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../../shared/db/client.ts';
import { updateClockShift } from '../../../shared/db/server/clock.system.ts';
import { between, pick, streamOf } from './random.ts';
import { untilNothingIsDue } from './recovery.ts';
import { type Level, levelOf, memoryByKind, type Sample } from './samples.ts';
import type { Planned } from './schedule.ts';
import type { Load } from './types.ts';
import type { Prepared } from './world.ts';

/** More than the machine can do. */
const fullRate = 1_000;
const measureMs = 20_000;
const killEveryMs = 20_000;

const answered = ({ ledger }: Load): number =>
  [...ledger.counts.values()].reduce((sum, { accepted, refused }) => sum + accepted + refused, 0);

/** Requests a second, with all that comes of them: how many were answered, over the time until all of it was done. */
export async function measureCapacity(load: Load): Promise<number> {
  const [before, startedAt] = [answered(load), performance.now()];
  load.setRate(fullRate);
  await sleep(measureMs);
  load.setRate(0);
  const requests = answered(load) - before;
  const late = await untilNothingIsDue(120_000);
  if (late) throw new Error(`What came of ${requests} requests is not done: ${late}`);
  return requests / ((performance.now() - startedAt) / 1000);
}

/** One process after the other, whichever the seed picks. */
export function planKills(seed: number, durationMs: number, slots: readonly string[]): Planned[] {
  const random = streamOf(seed, 0);
  const kills: Planned[] = [];
  for (let atMs = killEveryMs; atMs < durationMs; atMs += killEveryMs)
    kills.push({
      kind: 'kill -9',
      target: pick(random, slots),
      atMs: atMs - between(random, 0, 2_000),
      lastMs: 0,
      amount: 0,
    });
  return kills;
}

/** Exact, unlike the server's estimates. */
export async function countRows(): Promise<Record<string, number>> {
  const tables = await query<{ name: string }[]>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'",
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await query(`SELECT COUNT(*) AS amount FROM ${name}`);
    counts[name] = Number(row!['amount']);
  }
  return counts;
}

export type Measured = { what: string; unit: string; before: number; last: number; isLevel: boolean };

const grownBy = 1.3;
const level = (
  what: string,
  unit: string,
  { second: before, last }: Omit<Level, 'first'>,
  slack: number,
): Measured => ({
  what,
  unit,
  before,
  last,
  isLevel: last <= before * grownBy + slack,
});

/** The amounts that must not grow with the time: in the last quarter they are what they were before half time. */
export function levelsOff(samples: readonly Sample[]): Measured[] {
  const mib = 2 ** 20;
  const kinds = Object.entries(memoryByKind(samples)).filter(([kind]) => kind !== 'harness');
  const handles = (kind: string) =>
    levelOf(samples, ({ processes }) =>
      processes.flatMap((one) => (one.kind === kind && one.handles !== null ? [one.handles] : [])),
    );
  const inMib = ({ first, second, last }: Level): Level => ({
    first: first / mib,
    second: second / mib,
    last: last / mib,
  });
  // A process has more the longer it has lived since it was killed last, and in some quarter that was never long: what
  // it had in either of the first two is the measure.
  const matured = ({ first, second, last }: Level) => ({ second: Math.max(first, second), last });
  return [
    ...kinds.map(([kind, memory]) => level(`memory, ${kind}`, 'MiB', matured(inMib(memory)), 0)),
    ...kinds.map(([kind]) => level(`handles, ${kind}`, '', handles(kind), 10)),
    level(
      'Redis',
      'keys',
      levelOf(samples, ({ redis }) => (redis ? [redis.keys] : [])),
      200,
    ),
    level('Redis', 'MiB', inMib(levelOf(samples, ({ redis }) => (redis ? [redis.bytes] : []))), 4),
  ];
}

/** Rows for each email and text that was accepted, half way and at the end. */
export function rowsPerItem(half: Record<string, number>, end: Record<string, number>): Measured[] {
  const items = (counts: Record<string, number>) => (counts['emails'] ?? 0) + (counts['sms_messages'] ?? 0);
  return Object.keys(end)
    .filter((table) => (end[table] ?? 0) >= 500)
    .toSorted()
    .map((table) => {
      const [second, last] = [half, end].map((counts) => (counts[table] ?? 0) / Math.max(1, items(counts)));
      return level(`rows of ${table}`, 'per item', { second: second!, last: last! }, 0.05);
    });
}

const retained = ['emails', 'sms_messages', 'events', 'webhook_deliveries', 'webhook_attempts'];
const yearMs = 366 * 86_400_000;

async function aYearLater({ stage }: Prepared): Promise<void> {
  const [row] = await query('SELECT shift_ms AS shiftMs FROM clock WHERE id = 1');
  await updateClockShift(Number(row!['shiftMs']) + yearMs);
  // A worker that starts has the repeating jobs done at once; the others take their time.
  for (const slot of stage.slots.filter(({ kind }) => kind === 'worker_events' || kind === 'worker'))
    await slot.replace();
}

async function countRetained(): Promise<Record<string, number>> {
  const counts = await countRows();
  return Object.fromEntries(retained.flatMap((name) => (counts[name] ? [[name, counts[name]]] : [])));
}

/** Texts held for want of a balance are given up then, which makes events, which are kept for a while. */
const mostYears = 4;
const yearLimitMs = 60_000;

/** When their time is over, retention takes all of them out. Returns what it left. */
export async function untilForgotten(prepared: Prepared): Promise<Record<string, number>> {
  for (let year = 1; year <= mostYears; year += 1) {
    await aYearLater(prepared);
    for (const since = performance.now(); performance.now() < since + yearLimitMs; await sleep(1_000))
      if (Object.keys(await countRetained()).length === 0) return {};
  }
  return countRetained();
}
