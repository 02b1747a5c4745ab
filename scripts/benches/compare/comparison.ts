import type { Line, Run } from '../line.ts';
import { cpuSecondsOf, rateOf } from '../result.ts';
import {
  type Interval,
  leastConfidence,
  medianInterval,
  ratiosOf,
  type Spread,
  spreadOf,
} from '../statistics.ts';
import { columns, fraction, whole } from '../table.ts';

export const trees = ['new', 'old'] as const;
export type TreeName = (typeof trees)[number];

/** The runs of one side of a line. Runs at the same index are a pair. */
export type Pairs = Record<TreeName, Run[]>;

/** met: surely fast enough; MISSED: surely not; UNDECIDED: neither is sure. */
type Verdict = 'met' | 'MISSED' | 'UNDECIDED';

/** One measure of both trees, and its ratio new / old for each pair. There is no ratio if nothing was measured. */
export interface Row {
  name: string;
  /** The digits after the decimal point in the table. */
  digits: number;
  old: Spread;
  new: Spread;
  ratio?: Spread & { interval: Interval };
}

export interface Comparison {
  line: string;
  side: string;
  title: string;
  unit: string;
  notes: string[];
  finishedAt: string;
  titles: Record<TreeName, string>;
  pairs: number;
  scale: number;
  machine: Record<string, string | number>;
  /** The measure that `least` is compared with. For a measure where less is better, the ratio is old / new. */
  comparedBy: 'rate' | 'p50' | 'cpu';
  speed: { median: number; interval: Interval };
  least: number;
  verdict: Verdict;
  rows: Row[];
  runs: Record<TreeName, Omit<Run, 'content'>[]>;
}

/** With fewer, one disturbed pair could decide. */
const leastPairs = 10;

export function verdictOf({ from, to }: Interval, pairs: number, least: number): Verdict {
  if (pairs < leastPairs) return 'UNDECIDED';
  if (from >= least) return 'met';
  return to < least ? 'MISSED' : 'UNDECIDED';
}

interface Measure {
  name: string;
  digits: number;
  of: (run: Run) => number | undefined;
}

const p50Of = ({ latency }: Run) => latency?.p50Ms;
const perThousand = ({ count }: Run, seconds = Number.NaN) => (seconds / count) * 1000;

function measuresOf(unit: string, { window, figures = {} }: Run, servers: string[]): Measure[] {
  const processes = Object.keys(window.usages);
  // The same servers serve both.
  const own = processes.filter((name) => !servers.includes(name));
  return [
    { name: `${unit}/s`, digits: 0, of: rateOf },
    { name: 'p50 ms', digits: 1, of: p50Of },
    { name: 'p99 ms', digits: 1, of: ({ latency }) => latency?.p99Ms },
    ...Object.keys(figures).map((name) => ({ name, digits: 2, of: (run: Run) => run.figures?.[name] })),
    {
      name: `CPU s per 1,000 ${unit}`,
      digits: 3,
      of: (run) => perThousand(run, cpuSecondsOf(run)),
    },
    ...processes.map((name) => ({
      name: `  ${name}`,
      digits: 3,
      of: (run: Run) => perThousand(run, run.window.usages[name]?.cpuSeconds),
    })),
    ...own.map((name) => ({
      name: `peak MB without files, ${name}`,
      digits: 0,
      of: (run: Run) => run.window.usages[name]?.ownPeakMb,
    })),
    { name: 'cores used by others', digits: 2, of: ({ window }) => window.otherCores },
  ];
}

/** Returns undefined when one of the two has not been measured. */
function rowOf({ name, digits, of }: Measure, pairs: Pairs): Row | undefined {
  const valuesOf = (tree: TreeName) => pairs[tree].map((run) => of(run) ?? Number.NaN);
  const [ours, theirs] = [valuesOf('new'), valuesOf('old')];
  if (![...ours, ...theirs].every(Number.isFinite)) return undefined;
  const ratios = ratiosOf(ours, theirs);
  return {
    name,
    digits,
    old: spreadOf(theirs),
    new: spreadOf(ours),
    ...(ratios.every(Number.isFinite) && {
      ratio: { ...spreadOf(ratios), interval: medianInterval(ratios) },
    }),
  };
}

/** Returns the ratios of the chosen measure as a speed, so that more is better. */
function speedOf(comparedBy: Comparison['comparedBy'], pairs: Pairs): Comparison['speed'] {
  const measure = {
    rate: rateOf,
    p50: (run: Run) => 1 / (p50Of(run) ?? Number.NaN),
    cpu: (run: Run) => run.count / cpuSecondsOf(run),
  }[comparedBy];
  const ratios = ratiosOf(pairs.new.map(measure), pairs.old.map(measure));
  const { median } = spreadOf(ratios);
  const { from, to, confidence } = medianInterval(ratios);
  // A ratio that is no number decides nothing.
  const isNumber = ratios.every((ratio) => !Number.isNaN(ratio));
  return { median, interval: isNumber ? { from, to, confidence } : { from: 0, to: Infinity, confidence } };
}

export function comparisonOf(
  { name, unit, comparedBy = 'rate' }: Pick<Line, 'name' | 'unit' | 'comparedBy'>,
  side: { name: string; title: string },
  pairs: Pairs,
  given: Pick<Comparison, 'machine' | 'scale' | 'titles' | 'least' | 'notes'> & { servers: string[] },
): Comparison {
  const { servers, ...about } = given;
  const [first] = pairs.new;
  const count = pairs.new.length;
  const speed = speedOf(comparedBy, pairs);
  const measures = first ? measuresOf(unit, first, servers) : [];
  const contents = trees.map((tree) => pairs[tree][0]?.content);
  const isOther = contents[0] !== contents[1];
  return {
    line: name,
    side: side.name,
    title: side.title,
    unit,
    ...about,
    notes: [...about.notes, ...(isOther ? ['The two did not send or store the same.'] : [])],
    finishedAt: new Date().toISOString(),
    pairs: count,
    comparedBy,
    speed,
    verdict: verdictOf(speed.interval, count, about.least),
    rows: measures.flatMap((measure) => rowOf(measure, pairs) ?? []),
    runs: { new: withoutContent(pairs.new), old: withoutContent(pairs.old) },
  };
}

const withoutContent = (runs: Run[]) => runs.map(({ content: _content, ...run }) => run);

const between = ({ from, to }: Interval) => `${from.toFixed(2)}..${to.toFixed(2)}`;
/** With few values no interval is sure. */
const sure = ({ confidence }: Interval) =>
  confidence < leastConfidence ? 'least..most' : `${(100 * confidence).toFixed(1)} % sure`;

const show = ({ digits }: Row, { median }: Spread) => (digits === 0 ? whole : fraction(digits))(median);

/** Returns the verdict about `least` in one line. */
export function verdictLine({ line, side, comparedBy, speed, pairs, least, verdict }: Comparison): string {
  const what = { rate: 'rate, new / old', p50: 'p50, old / new', cpu: 'CPU time, old / new' }[comparedBy];
  const why = verdict !== 'UNDECIDED' || pairs >= leastPairs ? '' : `; ${leastPairs} pairs are the least`;
  return `${line}, ${side}: ${what}: ${speed.median.toFixed(2)} (${between(speed.interval)}); at least ${least}: ${verdict}${why}`;
}

export function comparisonTable(comparison: Comparison): string {
  const { line, side, title, notes, pairs, rows, speed } = comparison;
  return [
    `${line}, ${side}: ${title} (${pairs} pairs)`,
    ...notes.map((note) => `  ${note}`),
    '',
    ...columns([
      ['median', 'old', 'new', 'new / old', sure(speed.interval)],
      ...rows.map((row) => [
        row.name,
        show(row, row.old),
        show(row, row.new),
        row.ratio ? row.ratio.median.toFixed(2) : '-',
        row.ratio ? between(row.ratio.interval) : '-',
      ]),
    ]),
    '',
    verdictLine(comparison),
    '',
  ].join('\n');
}
