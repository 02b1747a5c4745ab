import { type Result, resultOf } from '../storm/course.ts';
import { streamOf } from '../storm/random.ts';
import { table } from '../storm/report.ts';
import { blow, finish, type Options, startRun } from '../storm/run.ts';
import { planStorm } from '../storm/schedule.ts';
import { gapLimitsMs } from './faults.ts';
import { type Gap, gapsOf, isTooLong } from './gaps.ts';
import type { PreparedCluster } from './world.ts';

/** Long, because several servers of each engine share one machine. */
const restLimitMs = 600_000;

/** Runs the load while nodes and processes are killed, frozen, cut off and switched. */
export async function runCluster(prepared: PreparedCluster, options: Options): Promise<Result> {
  const run = await startRun(prepared, { restLimitMs, ...options });
  const { seed, durationMs, gapMs } = options;
  const slots = prepared.slots.map(({ name }) => name);
  const { faults: known } = prepared;
  const planned = planStorm({ random: streamOf(seed, 0), durationMs, slots, faults: known, gapMs });
  const faults = await blow(run, planned);
  const outcome = await finish(run, { faults, samples: [] });
  const gaps = gapsOf(outcome.ledger, faults, gapLimitsMs);
  for (const { fault, gapMs: tookMs, limitMs } of gaps.filter(isTooLong))
    outcome.oddities.push({
      slot: fault.target,
      atMs: fault.atMs,
      text: `${fault.kind}: nothing was accepted for ${seconds(tookMs!)} s, ${seconds(limitMs!)} s at most`,
    });
  return resultOf(outcome, options, gapsText(gaps), {
    gaps: gaps.map(({ fault, gapMs: tookMs }) => ({ ...fault, gapMs: tookMs })),
  });
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

function longestOf(gaps: readonly Gap[]): string {
  const known = gaps.flatMap(({ gapMs }) => (gapMs === null ? [] : [gapMs]));
  return known.length === 0 ? '-' : seconds(Math.max(...known));
}

function gapsText(gaps: readonly Gap[]): string {
  const kinds = Map.groupBy(gaps, ({ fault: { kind, target } }) => `${kind}, ${target}`);
  return table(
    ['fault', 'times', 'longest s without a 2xx', 'at most'],
    [...kinds].map(([name, all]) => [
      name,
      all.length,
      longestOf(all),
      all[0]!.limitMs === undefined ? '' : seconds(all[0]!.limitMs),
    ]),
  );
}
