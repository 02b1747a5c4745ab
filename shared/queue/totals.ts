import { Command } from 'ioredis';
import { count } from '../common/metrics.ts';
import { config } from '../config/config.ts';
import { producerConnection } from './connection.ts';
import { processReports } from './process-reports.ts';

/** The counts and gauges of all processes: in Redis, so that one page shows the whole platform. */

const totalsKey = `${config.QUEUE_PREFIX}:totals`;

/** A time longer than a Redis can hang with its connections open. */
const answerLimitMs = 24 * 3_600_000;

/** The report of a process may be under way together with one that a page of the operator has asked for. */
const mostUnanswered = 2;
let unanswered = 0;

/**
 * Adds the counts of a process to the platform's totals. Counts that Redis may not have taken go back to the process. A
 * Redis that hangs still takes, later, the commands that it was sent before. So these commands outlast the timeout of
 * the connection: otherwise each report would send the same counts again. While Redis hangs, the process keeps further
 * counts and adds them up: otherwise the commands would fill its memory. `isLast`: the process ends, so all counts are
 * sent.
 */
export function addTotals(counts: [name: string, by: number][], { isLast = false } = {}): void {
  if (counts.length === 0) return;
  if (unanswered >= mostUnanswered && !isLast) {
    for (const [name, by] of counts) count(name, {}, by);
    return;
  }
  unanswered += 1;
  void Promise.all(counts.map(addTotal)).finally(() => {
    unanswered -= 1;
  });
}

/** Each command has an outcome of its own: a full Redis answers, but takes nothing. */
async function addTotal([name, by]: [string, number]): Promise<void> {
  try {
    const command = new Command('hincrby', [totalsKey, name, by]);
    // ioredis keeps the first timeout that a command gets, so this one replaces that of the connection.
    command.setTimeout(answerLimitMs);
    await producerConnection().sendCommand(command);
  } catch {
    count(name, {}, by);
  }
}

/** The totals since Redis was last emptied; null while it is away. */
export async function readTotals(): Promise<Record<string, number> | null> {
  try {
    const totals = await producerConnection().hgetall(totalsKey);
    return Object.fromEntries(Object.entries(totals).map(([name, value]) => [name, Number(value)]));
  } catch {
    return null;
  }
}

const gauges = processReports<number>('gauges', {
  // About a minute of writes.
  writesBetweenSweeps: 30,
  codec: {
    stringify: ({ at, state }) => `${state} ${at}`,
    parse: (text) => {
      const [state, at] = text.split(' ').map(Number) as [number, number];
      return { at, state };
    },
  },
});

/** Writes the gauges of this process. */
export const writeGauges = gauges.write;

/** The gauges of all processes together, by name; null while Redis is away. */
export async function readGauges(): Promise<Record<string, number> | null> {
  const all = await gauges.read();
  if (!all) return null;
  const totals: Record<string, number> = {};
  for (const { name, state } of all) totals[name] = (totals[name] ?? 0) + state;
  return totals;
}
