import type { Judged, Result, SideResult } from './result.ts';
import { type Spread, widestMiddle } from './statistics.ts';

const inWhole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });
export const whole = (value: number) => inWhole.format(value);
export const fraction = (digits: number) => (value: number) => value.toFixed(digits);

function show({ median, min, max }: Spread, text: (value: number) => string = whole): string {
  return `${text(median)} (${text(min)}..${text(max)})`;
}

/** Columns as wide as their widest cell; the first to the left, the others to the right. */
export function columns(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('   ')
      .trimEnd(),
  );
}

const verdictOf = ({ median, atMost }: Judged): string =>
  atMost === undefined ? '' : `; at most ${atMost}: ${median <= atMost ? 'met' : 'MISSED'}`;

function figureLines({ side, figures }: SideResult): string[] {
  return Object.entries(figures).map(
    ([name, figure]) => `${side}, ${name}: ${show(figure, fraction(2))}${verdictOf(figure)}`,
  );
}

function memoryLines({ side, ownPeakMb }: SideResult): string[] {
  return Object.entries(ownPeakMb)
    .filter(([, { atMost }]) => atMost !== undefined)
    .map(([name, peak]) => `${side}, ${name}, ${usageTitles.ownPeakMb()}: ${show(peak)}${verdictOf(peak)}`);
}

function ratioLine(
  platform: SideResult,
  { side, ratio, cpuRatio, target, p99Ratio, isNoisy }: SideResult,
): string[] {
  if (!ratio || !cpuRatio) return [];
  const verdict =
    target === undefined ? '' : `; the target is ${target}: ${ratio.median >= target ? 'met' : 'MISSED'}`;
  return [
    `${platform.side} / ${side}: ${show(ratio, fraction(2))}${verdict}${isNoisy ? ' -- NOISY' : ''}`,
    `  by CPU time of all processes: ${show(cpuRatio, fraction(2))}`,
    ...(p99Ratio ? [`  by p99: ${show(p99Ratio, fraction(2))}${verdictOf(p99Ratio)}`] : []),
  ];
}

const usageTitles = {
  cpuPerThousand: (unit: string) => `CPU s per 1,000 ${unit}`,
  peakMb: () => 'peak RSS, MB',
  ownPeakMb: () => 'without files, MB',
};

export function tableOf({ line, title, unit, notes, pairs, sides, isNoisy }: Result): string {
  const [platform] = sides;
  if (!platform) return '';
  const processes = [...new Set(sides.flatMap(({ cpuPerThousand }) => Object.keys(cpuPerThousand)))];
  const usage = (of: keyof typeof usageTitles, text: (value: number) => string) =>
    columns([
      [usageTitles[of](unit), ...processes],
      ...sides.map((side) => [
        side.side,
        ...processes.map((name) => (side[of][name] ? text(side[of][name].median) : '-')),
      ]),
    ]);
  const rates = columns([
    ['', `${unit}/s, median (min..max)`, 'p50 ms', 'p99 ms', 'cores used by others'],
    ...sides.map(({ side, rate, p50Ms, p99Ms, otherCores }) => [
      side,
      show(rate),
      p50Ms ? fraction(1)(p50Ms.median) : '-',
      p99Ms ? fraction(1)(p99Ms.median) : '-',
      show(otherCores, fraction(2)),
    ]),
  ]);
  const hasLatency = sides.some(({ p50Ms }) => p50Ms);
  return [
    `${line}: ${title} (${pairs} pairs)${isNoisy ? ' -- NOISY: not to be quoted without its spread' : ''}`,
    ...sides.map((side) => `  ${side.side}: ${side.title}`),
    ...notes.map((note) => `  ${note}`),
    '',
    ...(hasLatency ? rates : rates.map((row) => row.replace(/ {3}p50 ms {3}p99 ms| {8}- {8}-/, ''))),
    '',
    ...usage('cpuPerThousand', fraction(3)),
    '',
    ...usage('peakMb', whole),
    '',
    ...usage('ownPeakMb', whole),
    '',
    ...sides.flatMap(memoryLines),
    ...sides.flatMap(figureLines),
    ...sides.flatMap((side) => ratioLine(platform, side)),
    '',
  ].join('\n');
}

export function refusalOf({ line, sides }: Result): string {
  const ratios = sides.flatMap(({ side, ratio }) => (ratio ? [`${side} ${show(ratio, fraction(2))}`] : []));
  return `${line}: too noisy to report. The middle half of the pairs' ratios lies further apart than ${widestMiddle} times: ${ratios.join(', ')}.
Let the machine be quiet, or give --allow-noise.`;
}

/**
 * Compares the whole way of an email from request to sink, so that it does not matter whether a side renders in web
 * or in the worker.
 */
export function wholeWay(results: readonly Result[]): string {
  const rate = (line: string, side: string) =>
    results.find((result) => result.line === line)?.sides.find((one) => one.side === side)?.rate.median ??
    Number.NaN;
  const ms = (accept: string, out: string) =>
    1000 / rate('accept-liquid', accept) + 1000 / rate('email-out', out);
  const [ours, theirs] = [ms('platform', 'platform'), ms('bare', 'bare-rendered')];
  if (Number.isNaN(ours + theirs)) return '';
  return `accept-liquid and email-out together, Liquid rendered once on either side: an email takes this machine ${ours.toFixed(2)} ms, bare ${theirs.toFixed(2)} ms: ${(theirs / ours).toFixed(2)}\n`;
}
