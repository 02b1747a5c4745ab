import fs from 'node:fs';
import path from 'node:path';
import type { Line, Run, Side } from './line.ts';
import { isNoisy, ratiosOf, type Spread, spreadOf } from './statistics.ts';
import type { World } from './world.ts';

/** A figure that may have a limit. */
export type Judged = Spread & { atMost?: number };

export interface SideResult {
  side: string;
  title: string;
  /** Per second. */
  rate: Spread;
  p50Ms?: Spread;
  p99Ms?: Spread;
  /** CPU seconds for a thousand, by process. */
  cpuPerThousand: Record<string, Spread>;
  peakMb: Record<string, Spread>;
  /** Memory without the files of Node, which a machine holds only once. */
  ownPeakMb: Record<string, Judged>;
  otherCores: Spread;
  figures: Record<string, Judged>;
  /** The platform's rate divided by this side's, pair by pair; absent for the platform itself. */
  ratio?: Spread;
  /** The same ratio by the CPU time of all processes together, which other programs disturb less than rates. */
  cpuRatio?: Spread;
  target?: number;
  /** The platform's p99 divided by this side's, pair by pair. */
  p99Ratio?: Judged;
  /** The pairs differ too much from one another. */
  isNoisy: boolean;
  runs: Omit<Run, 'content'>[];
}

export interface Result {
  line: string;
  title: string;
  unit: string;
  notes: readonly string[];
  finishedAt: string;
  pairs: number;
  scale: number;
  machine: World['machine'];
  /** True when a side that matters is noisy: one with a target, or any side if none has a target. */
  isNoisy: boolean;
  /** So noisy that another run could give another verdict about a target. */
  isUndecided: boolean;
  sides: SideResult[];
}

/** The most that a process of the platform may hold of its own under load, in MB, by how its name begins. */
const memoryAtMost: Record<string, number> = { web: 200, worker: 300 };

export const rateOf = ({ count, window }: Run): number => count / window.seconds;
export const cpuSecondsOf = ({ window }: Run): number =>
  Object.values(window.usages).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
const perCpuSecond = (run: Run): number => run.count / cpuSecondsOf(run);

export function resultOf(
  line: Line,
  runs: { side: Side; runs: Run[] }[],
  given: { machine: World['machine']; scale: number },
): Result {
  const platform = runs[0]?.runs ?? [];
  const ratioBy = (value: (run: Run) => number, runs: Run[]) =>
    spreadOf(ratiosOf(platform.map(value), runs.map(value)));
  const sides = runs.map(({ side, runs }, index): SideResult => {
    const target = line.targets[side.name];
    const ratio = index > 0 ? ratioBy(rateOf, runs) : undefined;
    const p99AtMost = line.p99AtMost?.[side.name];
    const latencies = runs.flatMap(({ latency }) => latency ?? []);
    return {
      side: side.name,
      title: side.title,
      rate: spreadOf(runs.map(rateOf)),
      ...(latencies.length > 0 && {
        p50Ms: spreadOf(latencies.map(({ p50Ms }) => p50Ms)),
        p99Ms: spreadOf(latencies.map(({ p99Ms }) => p99Ms)),
      }),
      cpuPerThousand: byProcess(
        runs,
        (run, name) => ((run.window.usages[name]?.cpuSeconds ?? 0) / run.count) * 1000,
      ),
      peakMb: byProcess(runs, (run, name) => run.window.usages[name]?.peakMb ?? 0),
      ownPeakMb: ownPeaksOf(runs, index === 0 ? { ...memoryAtMost, ...line.memoryAtMost } : {}),
      otherCores: spreadOf(runs.map(({ window }) => window.otherCores)),
      figures: figuresOf(runs, index === 0 ? line.atMost : undefined),
      ...(ratio && { ratio, cpuRatio: ratioBy(perCpuSecond, runs) }),
      isNoisy: ratio !== undefined && isNoisy(ratio),
      ...(target !== undefined && { target }),
      ...(p99AtMost !== undefined && {
        p99Ratio: judged(
          ratioBy(({ latency }) => latency?.p99Ms ?? Number.NaN, runs),
          p99AtMost,
        ),
      }),
      runs: runs.map(({ content: _content, ...run }) => run),
    };
  });
  return {
    line: line.name,
    title: line.title,
    unit: line.unit,
    notes: line.notes,
    finishedAt: new Date().toISOString(),
    pairs: platform.length,
    ...given,
    isNoisy: sides.some(
      ({ isNoisy, target }) => isNoisy && (target !== undefined || Object.keys(line.targets).length === 0),
    ),
    isUndecided: sides.some(
      ({ isNoisy, target, ratio }) =>
        isNoisy && target !== undefined && ratio && ratio.middle[0] < target && target <= ratio.middle[1],
    ),
    sides,
  };
}

function figuresOf(runs: Run[], atMost: Record<string, number> = {}): SideResult['figures'] {
  const names = Object.keys(runs[0]?.figures ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      judged(spreadOf(runs.map((run) => run.figures?.[name] ?? Number.NaN)), atMost[name]),
    ]),
  );
}

function judged(spread: Spread, atMost: number | undefined): Judged {
  return atMost === undefined ? spread : { ...spread, atMost };
}

function byProcess(runs: Run[], valueOf: (run: Run, name: string) => number): Record<string, Spread> {
  const names = Object.keys(runs[0]?.window.usages ?? {});
  return Object.fromEntries(names.map((name) => [name, spreadOf(runs.map((run) => valueOf(run, name)))]));
}

function ownPeaksOf(runs: Run[], most: Record<string, number>): Record<string, Judged> {
  const kindOf = (name: string) => Object.keys(most).find((kind) => name.startsWith(kind)) ?? '';
  const spreads = byProcess(runs, (run, name) => run.window.usages[name]?.ownPeakMb ?? 0);
  return Object.fromEntries(
    Object.entries(spreads).map(([name, spread]) => [name, judged(spread, most[kindOf(name)])]),
  );
}

export function save(file: string, results: unknown): void {
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
