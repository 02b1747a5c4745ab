import { setTimeout as sleep } from 'node:timers/promises';
import { streamOf } from './random.ts';
import { findingsText, jsonOf, soakText, stormText } from './report.ts';
import { blow, finish, type Options, type Outcome, startRun } from './run.ts';
import { keepSampling, redisKinds } from './samples.ts';
import { planStorm } from './schedule.ts';
import { countRows, levelsOff, measureCapacity, planKills, rowsPerItem, untilForgotten } from './soak.ts';
import type { Prepared } from './world.ts';

export type Result = { isSound: boolean; text: string; json: object };

const sampleEveryMs = 10_000;

/** Runs the load under every kind of fault. */
export async function runFaults(prepared: Prepared, options: Options): Promise<Result> {
  const run = await startRun(prepared, options);
  const { seed, durationMs, gapMs } = options;
  const slots = prepared.stage.slots.map(({ name }) => name);
  const planned = planStorm({ random: streamOf(seed, 0), durationMs, slots, gapMs });
  const sampling = keepSampling(prepared.stage, Math.min(sampleEveryMs, durationMs / 12));
  const faults = await blow(run, planned);
  sampling.stop();
  const outcome = await finish(run, { faults, samples: sampling.samples });
  return resultOf(outcome, options, '', {});
}

/** Runs half of the measured capacity with a kill every 20 s, and measures memory, handles and rows. */
export async function runSoak(prepared: Prepared, options: Options): Promise<Result> {
  const { seed, durationMs, log } = options;
  const run = await startRun(prepared, { ...options, perSecond: 1 });
  const perSecond = await measureCapacity(run.load);
  log(
    `It can do ${perSecond.toFixed(1)} requests a second with all that comes of them; half of that from now on`,
  );
  run.load.setRate(perSecond / 2);
  const sampling = keepSampling(prepared.stage, Math.min(sampleEveryMs, durationMs / 12));
  const slots = prepared.stage.slots.map(({ name }) => name);
  const [faults, half] = await Promise.all([
    blow(run, planKills(seed, durationMs, slots)),
    sleep(durationMs / 2).then(countRows),
  ]);
  sampling.stop();
  const { samples } = sampling;
  const keys = await redisKinds(prepared.stage);
  let end: Record<string, number> = {};
  const outcome = await finish(run, { faults, samples }, async () => {
    end = await countRows();
    log('Years later: retention takes it all out');
    const left = await untilForgotten(prepared);
    if (Object.keys(left).length > 0)
      prepared.oddities.push({ slot: 'retention', atMs: Date.now(), text: `left ${JSON.stringify(left)}` });
  });
  const keysAtRest = await redisKinds(prepared.stage);
  const measured = [...levelsOff(samples), ...rowsPerItem(half, end)];
  for (const { what, unit, before, last, isLevel } of measured)
    if (!isLevel)
      outcome.oddities.push({
        slot: what,
        atMs: Date.now(),
        text: `does not level off: ${before.toFixed(1)} in the first half, ${last.toFixed(1)} in the last ${unit}`,
      });
  return resultOf(outcome, options, soakText(perSecond, measured), {
    perSecond,
    measured,
    redisKeys: { underLoad: keys, atRest: keysAtRest },
  });
}

export function resultOf(outcome: Outcome, options: Options, more: string, moreJson: object): Result {
  const isSound = outcome.findings.length + outcome.oddities.length === 0;
  const said = isSound ? 'Nothing was found.' : `FOUND:\n${findingsText(outcome)}`;
  return {
    isSound,
    text: `\n${[stormText(outcome, options), more, said].filter(Boolean).join('\n\n')}`,
    json: { ...jsonOf(outcome, options), ...moreJson },
  };
}
