import type { Line, Run, Side } from './line.ts';
import { isNoisy, ratiosOf, type Spread, spreadOf } from './statistics.ts';
import type { World } from './world.ts';

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
  otherCores: Spread;
  /** The platform's rate by this side's, pair by pair; not for the platform itself. */
  ratio?: Spread;
  target?: number;
  runs: Run[];
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
  isNoisy: boolean;
  sides: SideResult[];
}

const rateOf = ({ count, window }: Run): number => count / window.seconds;

export function resultOf(
  line: Line,
  runs: { side: Side; runs: Run[] }[],
  given: { machine: World['machine']; scale: number },
): Result {
  const platform = runs[0]?.runs.map(rateOf) ?? [];
  const sides = runs.map(({ side, runs }, index): SideResult => {
    const target = line.targets[side.name];
    const rates = runs.map(rateOf);
    const latencies = runs.flatMap(({ latency }) => latency ?? []);
    return {
      side: side.name,
      title: side.title,
      rate: spreadOf(rates),
      ...(latencies.length > 0 && {
        p50Ms: spreadOf(latencies.map(({ p50Ms }) => p50Ms)),
        p99Ms: spreadOf(latencies.map(({ p99Ms }) => p99Ms)),
      }),
      cpuPerThousand: byProcess(
        runs,
        (run, name) => ((run.window.usages[name]?.cpuSeconds ?? 0) / run.count) * 1000,
      ),
      peakMb: byProcess(runs, (run, name) => run.window.usages[name]?.peakMb ?? 0),
      otherCores: spreadOf(runs.map(({ window }) => window.otherCores)),
      ...(index > 0 && { ratio: spreadOf(ratiosOf(platform, rates)) }),
      ...(target !== undefined && { target }),
      runs,
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
    isNoisy: sides.some(({ ratio }) => ratio && isNoisy(ratio)),
    sides,
  };
}

function byProcess(runs: Run[], valueOf: (run: Run, name: string) => number): Record<string, Spread> {
  const names = Object.keys(runs[0]?.window.usages ?? {});
  return Object.fromEntries(names.map((name) => [name, spreadOf(runs.map((run) => valueOf(run, name)))]));
}
