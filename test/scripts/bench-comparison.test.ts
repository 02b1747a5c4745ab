import { expect, test } from 'vitest';
import {
  comparisonOf,
  comparisonTable,
  verdictLine,
  verdictOf,
} from '../../scripts/benches/compare/comparison.ts';
import { type Line, type Run } from '../../scripts/benches/line.ts';
import { optionsOf } from '../../scripts/benches/options.ts';
import { medianInterval } from '../../scripts/benches/statistics.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, index) => count - index);

// The values are those in tables of the sign test.
test.each([
  [6, 1, 6, 0.969],
  [10, 2, 9, 0.979],
  [15, 4, 12, 0.965],
  [20, 6, 15, 0.959],
  [25, 8, 18, 0.957],
  [30, 10, 21, 0.957],
])(
  'of %i values the median lies between the one of place %i and that of %i',
  (count, from, to, confidence) => {
    const interval = medianInterval(upTo(count));
    expect(interval).toEqual({ from, to, confidence: expect.closeTo(confidence, 3) });
  },
);

test('fewer values than six are all within the interval, which says how little that means', () => {
  expect(medianInterval(upTo(5))).toEqual({ from: 1, to: 5, confidence: 0.9375 });
  expect(medianInterval([3])).toEqual({ from: 3, to: 3, confidence: 0 });
});

test('one pair that was disturbed changes neither end by more than a place', () => {
  const calm = upTo(10);
  const { from, to } = medianInterval([...calm.slice(1), 1_000]);
  expect([from, to]).toEqual([2, 9]);
});

test.each([
  [0.95, 1.1, 10, 'met'],
  [0.9, 0.949, 10, 'MISSED'],
  [0.9, 0.95, 10, 'UNDECIDED'],
  [0.97, 1.1, 9, 'UNDECIDED'],
  [0.5, 0.6, 9, 'UNDECIDED'],
])('from %d to %d in %i pairs, where 0.95 is the least, is %s', (from, to, pairs, verdict) => {
  expect(verdictOf({ from, to, confidence: 0.979 }, pairs, 0.95)).toBe(verdict);
});

/** Makes ten runs with this rate per second, this median latency and these CPU seconds. */
const runs = (rate: number, { p50Ms = 4, cpuSeconds = 0.5 } = {}): Run[] =>
  upTo(10).map(() => ({
    count: rate,
    window: {
      seconds: 1,
      otherCores: 0,
      usages: {
        web: { cpuSeconds, peakMb: 90, ownPeakMb: 60 },
        mysql: { cpuSeconds: 0, peakMb: 300, ownPeakMb: 290 },
      },
    },
    latency: { p50Ms, p99Ms: 9 },
    figures: { 'commands/s': 0 },
    content: '',
  }));

const compared = (ours: Run[], theirs: Run[], comparedBy?: Line['comparedBy']) =>
  comparisonOf(
    { name: 'x', unit: 'things', ...(comparedBy && { comparedBy }) },
    { name: 'platform', title: 'one of it' },
    { new: ours, old: theirs },
    { machine: {}, scale: 1, titles: { new: 'b', old: 'a' }, least: 0.95, notes: [], servers: ['mysql'] },
  );

test('a line is compared by its rate, one that sets the pace itself by its latency or CPU time, where less is better', () => {
  const [slow, fast] = [runs(800, { p50Ms: 5, cpuSeconds: 0.5 }), runs(1_000, { p50Ms: 4, cpuSeconds: 0.5 })];
  const speedOf = (comparedBy?: Line['comparedBy']) => {
    const { speed, verdict } = compared(slow, fast, comparedBy);
    return [speed.median, verdict];
  };
  expect(speedOf()).toEqual([0.8, 'MISSED']);
  expect(speedOf('p50')).toEqual([0.8, 'MISSED']);
  expect(speedOf('cpu')).toEqual([0.8, 'MISSED']);
  expect(compared(fast, slow, 'p50').verdict).toBe('met');
});

test('a measure that is missing decides nothing', () => {
  const without = runs(800).map(({ latency: _latency, ...run }) => run);
  expect(compared(without, without, 'p50').verdict).toBe('UNDECIDED');
});

test('the table has old and new, their ratio and how sure it is; of shared servers no memory, of nothing no ratio', () => {
  const text = comparisonTable(compared(runs(900), runs(1_000)));
  expect(text).toBe(`x, platform: one of it (10 pairs)

median                         old     new   new / old   97.9 % sure
things/s                     1,000     900        0.90    0.90..0.90
p50 ms                         4.0     4.0        1.00    1.00..1.00
p99 ms                         9.0     9.0        1.00    1.00..1.00
commands/s                    0.00    0.00           -             -
CPU s per 1,000 things       0.500   0.556        1.11    1.11..1.11
  web                        0.500   0.556        1.11    1.11..1.11
  mysql                      0.000   0.000           -             -
peak MB without files, web      60      60        1.00    1.00..1.00
cores used by others          0.00    0.00           -             -

x, platform: rate, new / old: 0.90 (0.90..0.90); at least 0.95: MISSED
`);
});

test('so few pairs that nothing is decided are said to be too few', () => {
  const three = compared(runs(900).slice(7), runs(1_000).slice(7));
  expect(verdictLine(three)).toBe(
    'x, platform: rate, new / old: 0.90 (0.90..0.90); at least 0.95: UNDECIDED; 10 pairs are the least',
  );
});

test('the options of a comparison: 10 pairs and at least 0.95, unless something else is asked for', () => {
  const { chosen, ...options } = optionsOf(['compare', 'main', 'email', '--scale', '0.1']);
  expect(options).toMatchObject({ commit: 'main', pairs: 10, least: 0.95, scale: 0.1 });
  expect(chosen.map(({ name }) => name)).toEqual(['email-out', 'email-isolation']);
  expect(optionsOf(['compare', 'HEAD~1', '--pairs', '20', '--least=0.9'])).toMatchObject({
    commit: 'HEAD~1',
    pairs: 20,
    least: 0.9,
  });
  expect(optionsOf([])).toMatchObject({ commit: undefined, pairs: 5 });
});

test.each([
  [['compare'], 'compare needs a commit'],
  [['compare', 'main', 'nothing'], 'There is no line "nothing"'],
  [['compare', 'main', '--profile'], '--profile does not belong to compare'],
  [['--least', '0.9'], '--least belongs to compare'],
  [['compare', 'main', '--least', 'x'], '--pairs, --scale and --least must be positive'],
])('%j is refused: %s', (args, reason) => {
  expect(() => optionsOf(args)).toThrow(reason);
});
