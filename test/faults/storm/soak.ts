import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../../shared/db/client.ts';
import { updateClockShift } from '../../../shared/db/server/clock.system.ts';
import { between, pick, streamOf } from './random.ts';
import { untilNothingIsDue } from './recovery.ts';
import { type Level, levelOf, memoryByKind, type Sample } from './samples.ts';
import type { Planned } from './schedule.ts';
import type { Load } from './types.ts';
import type { Prepared } from './world.ts';

/** Requests a second, more than the machine can do. */
const fullRate = 1_000;
const measureMs = 20_000;
const killEveryMs = 20_000;

const answered = ({ ledger }: Load): number =>
  [...ledger.counts.values()].reduce((sum, { accepted, refused }) => sum + accepted + refused, 0);

/** Measures the capacity: the number of answered requests, by the seconds until all of their work was done. */
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

/** Plans kills of one process after the other; the seed picks them. */
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

/** Counts all rows exactly, unlike the server's estimates. */
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

/** Compares amounts that must not grow over time: the last quarter with the time before half of the run. */
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
  // The memory of a process grows for some time after its last kill, and in some quarters no process lived for long.
  // So the larger value of the first two quarters is the measure.
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

/** Compares the rows of each table per accepted email and text, half way and at the end. */
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
  // The repeating jobs run at once when a worker starts, and only after their interval otherwise.
  for (const slot of stage.slots.filter(({ kind }) => kind === 'worker_events' || kind === 'worker'))
    await slot.replace();
}

async function countRetained(): Promise<Record<string, number>> {
  const counts = await countRows();
  return Object.fromEntries(retained.flatMap((name) => (counts[name] ? [[name, counts[name]]] : [])));
}

/** More than one year: held texts without a balance expire then, and their new events are retained for some time. */
const mostYears = 4;
const yearLimitMs = 60_000;

/** Moves the clock on until retention has deleted all retained rows. Returns the rows that are left. */
export async function untilForgotten(prepared: Prepared): Promise<Record<string, number>> {
  for (let year = 1; year <= mostYears; year += 1) {
    await aYearLater(prepared);
    for (const since = performance.now(); performance.now() < since + yearLimitMs; await sleep(1_000))
      if (Object.keys(await countRetained()).length === 0) return {};
  }
  return countRetained();
}
