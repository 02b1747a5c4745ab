import { hostname } from 'node:os';
import { Command } from 'ioredis';
import { now } from '../common/clock.ts';
import { logger } from '../common/logger.ts';
import { count } from '../common/metrics.ts';
import { config } from '../config/config.ts';
import { producerConnection } from './connection.ts';

/** The counts and gauges of all processes: in Redis, so that one page shows the whole platform. */

const totalsKey = `${config.QUEUE_PREFIX}:totals`;

/** Longer than a Redis hangs with its connections open. */
const answerLimitMs = 24 * 3_600_000;

/** The report of a process may be under way together with the one before a page of the operator. */
const mostUnanswered = 2;
let unanswered = 0;

/**
 * Adds the counts of a process to the platform's totals. Counts that Redis may not have taken go back to the process.
 * Redis will still take what it was sent before it hung. So these commands outlast the timeout of the connection:
 * otherwise every report would send the same counts again. While Redis hangs, further counts stay with the process,
 * which adds them up: otherwise the commands would fill its memory. `isLast`: the process ends, so all are sent.
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
    // ioredis keeps the first timeout that a command is given.
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

const gaugesKey = `${config.QUEUE_PREFIX}:gauges`;
export const thisProcess = `${hostname()}-${process.pid}`;
/** A process that has written nothing for this time is gone. */
const gaugeLifeMs = 10_000;

/** About a minute of writes. */
const writesBetweenSweeps = 30;
let writes = 0;

/** Writes the gauges of this process. */
export function writeGauges(gauges: [name: string, value: number][]): void {
  // Reading deletes the gauges of dead processes. If nobody else reads, they would stay for ever.
  if (writes % writesBetweenSweeps === 0) void readGauges();
  writes += 1;
  const at = now().getTime();
  const fields = gauges.flatMap(([name, value]) => [`${name} ${thisProcess}`, `${value} ${at}`]);
  producerConnection()
    .hset(gaugesKey, ...fields)
    .catch((error) => logger.debug({ err: error }, 'gauges could not be written'));
}

/** The gauges of all processes together, by name; null while Redis is away. */
export async function readGauges(): Promise<Record<string, number> | null> {
  try {
    const fields = Object.entries(await producerConnection().hgetall(gaugesKey));
    const totals: Record<string, number> = {};
    const gone: string[] = [];
    for (const [field, text] of fields) {
      const [value, at] = text.split(' ').map(Number) as [number, number];
      const name = field.slice(0, field.indexOf(' '));
      if (at < now().getTime() - gaugeLifeMs) gone.push(field);
      else totals[name] = (totals[name] ?? 0) + value;
    }
    if (gone.length > 0) await producerConnection().hdel(gaugesKey, ...gone);
    return totals;
  } catch {
    return null;
  }
}
