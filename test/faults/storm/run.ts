import { setTimeout as sleep } from 'node:timers/promises';
import { closeEverything, startUp } from '../../../shared/lifecycle.ts';
import type { SmtpSink } from '../../support/servers/smtp-sink.ts';
import { duplicatesByCause, duplicatesOf } from './duplicates.ts';
import { evidenceOf } from './evidence.ts';
import { checkInvariants } from './invariants/index.ts';
import { startLoad } from './load.ts';
import { patiently } from './patience.ts';
import type { Platform } from './platform.ts';
import type { Oddity, Settings } from './processes.ts';
import { streamOf } from './random.ts';
import { startReceivers } from './receivers.ts';
import {
  countStored,
  measureRecovery,
  type Recovery,
  untilAllIsDone,
  untilNothingIsDue,
} from './recovery.ts';
import { readRows } from './rows.ts';
import type { Sample } from './samples.ts';
import type { Planned } from './schedule.ts';
import type { Finding, InjectedFault, Ledger, Load, World } from './types.ts';

export type Options = {
  seed: number;
  durationMs: number;
  /** Requests a second. */
  perSecond: number;
  gapMs: readonly [least: number, most: number];
  log: (text: string) => void;
  /** The longest time for due work to be done after the last fault; 4 minutes by default. */
  restLimitMs?: number;
};

export type Outcome = {
  ledger: Ledger;
  faults: InjectedFault[];
  findings: Finding[];
  /** All that is known about the ids in the findings. */
  evidence: Record<string, unknown>;
  /** Numbers of second copies, by their cause. */
  duplicates: Map<string, number>;
  /** Numbers of stored rows, by table and status. */
  stored: Record<string, number>;
  samples: readonly Sample[];
  oddities: Oddity[];
  recovery: Record<string, Recovery>;
  /** From the last fault's end until nothing was due. */
  restAfterMs: number;
};

/** A platform with its servers, before the load. */
export type Prepared = Platform & {
  sink: SmtpSink;
  /** Settings of the harness itself, which bypass the broken parts. */
  direct: Settings;
  inject: (planned: Planned) => Promise<InjectedFault>;
  /** Thaws everything, because a frozen process cannot end. */
  thaw: () => void;
};

/** A run from its first request to its end. */
export type Run = { prepared: Prepared; world: World; load: Load; options: Options };

const usualRestLimitMs = 240_000;
/** The load goes on for this long after the last fault. */
const calmMs = 3_000;

/** Starts the platform, and the load on it. */
export async function startRun(prepared: Prepared, options: Options): Promise<Run> {
  const { sink, direct } = prepared;
  const { seed, perSecond, log } = options;
  const world: World = {
    webUrls: () => prepared.webUrls(),
    sink,
    receivers: startReceivers(streamOf(seed, 2)),
    settings: direct,
  };
  await startUp();
  await prepared.open();
  const load = await startLoad(world, { perSecond, random: streamOf(seed, 1), log });
  return { prepared, world, load, options };
}

/** Injects each planned fault at its time. Returns after `durationMs` at least, when all faults are over. */
export async function blow(
  { prepared, options }: Run,
  planned: readonly Planned[],
): Promise<InjectedFault[]> {
  const { oddities } = prepared;
  const { log, durationMs } = options;
  log(`${planned.length} faults in ${Math.round(durationMs / 1000)} s, seed ${options.seed}`);
  const faults: InjectedFault[] = [];
  // On a busy machine a fault may take longer than planned; the next fault of the same target waits for its end.
  const lastAt = new Map<string, Promise<void>>();
  const all = planned.map((one) => {
    const done = Promise.all([sleep(one.atMs), lastAt.get(one.target)]).then(() => injectOne(one));
    lastAt.set(one.target, done);
    return done;
  });
  async function injectOne(one: Planned): Promise<void> {
    log(`${one.kind}, ${one.target}${one.lastMs > 0 ? `, ${one.lastMs} ms` : ''}`);
    try {
      faults.push(await prepared.inject(one));
    } catch (error) {
      const text = `after ${one.kind}: ${(error as Error).message}`;
      log(`${one.target} ${text}`);
      oddities.push({ slot: one.target, atMs: Date.now(), text });
    }
  }
  await Promise.all([...all, sleep(durationMs)]);
  return faults.toSorted((a, b) => a.atMs - b.atMs);
}

type Blown = { faults: InjectedFault[]; samples: readonly Sample[] };

/**
 * Ends the load, waits for all due work and then for all later work, and checks everything. `last` runs after the
 * checks, while the platform is at rest.
 */
export async function finish(
  run: Run,
  { faults, samples }: Blown,
  last: () => Promise<void> = async () => undefined,
): Promise<Outcome> {
  const { prepared, world, load, options } = run;
  const rested = await comeToRest(run);
  options.log('Checking the invariants');
  const findings = await patiently(() => checkInvariants(world, load.ledger, { faults }));
  const rows = await patiently(() => readRows(load.ledger.customers));
  const duplicates = duplicatesByCause(duplicatesOf(load.ledger, world.receivers, faults, rows));
  const evidence = await patiently(() => evidenceOf(findings, load.ledger, world.receivers));
  const stored = await patiently(countStored);
  await last();
  await stopAll(prepared);
  await closeEverything();
  const { oddities } = prepared;
  const { ledger } = load;
  return { ledger, faults, findings, evidence, duplicates, stored, samples, oddities, ...rested };
}

async function comeToRest({
  prepared,
  world,
  load,
  options,
}: Run): Promise<Pick<Outcome, 'recovery' | 'restAfterMs'>> {
  const { log, restLimitMs = usualRestLimitMs } = options;
  const soundSince = new Date();
  log('All is sound again');
  await sleep(calmMs);
  await load.stop();
  world.receivers.calm();
  const notDone = (text: string, limit: string) =>
    text &&
    prepared.oddities.push({ slot: 'platform', atMs: Date.now(), text: `not done ${limit}: ${text}` });
  notDone(await untilNothingIsDue(restLimitMs, log), `${restLimitMs / 1000} s after the last fault`);
  const restAfterMs = Date.now() - soundSince.getTime();
  const recovery = await measureRecovery(soundSince);
  log(`Nothing is due any more, ${(restAfterMs / 1000).toFixed(1)} s after the last fault`);
  notDone(await untilAllIsDone(restLimitMs, log), 'when the clock was moved on');
  await load.close();
  return { recovery, restAfterMs };
}

/** Stops all processes; one that does not end with code 0 is an oddity. */
async function stopAll({ slots, oddities }: Prepared): Promise<void> {
  const endings = slots.map(async (slot) => ({ slot: slot.name, ...(await slot.stop()) }));
  for (const { slot, code, signal, tookMs } of await Promise.all(endings))
    if (code !== 0)
      oddities.push({
        slot,
        atMs: Date.now(),
        text: `ended by ${signal ?? `code ${code}`} ${Math.round(tookMs)} ms after SIGTERM`,
      });
}
