import { expect, test } from 'vitest';
import type { Line, Run, Side } from '../../scripts/benches/line.ts';
import { resultOf } from '../../scripts/benches/result.ts';
import { tableOf } from '../../scripts/benches/table.ts';

const unopened = () => Promise.reject(new Error('Nothing is measured here'));
const line: Line = {
  name: 'x',
  title: 'x',
  unit: 'things',
  targets: { bare: 0.6 },
  notes: [],
  open: unopened,
};

/** Makes a result of pairs in which the platform reached these shares of the rate of the bare side. */
function resultOfRatios(ratios: number[], targets: Line['targets'] = line.targets) {
  const runsAt = (rates: number[]) =>
    rates.map(
      (rate): Run => ({ count: rate, window: { seconds: 1, otherCores: 0, usages: {} }, content: '' }),
    );
  const side = (name: string): Side => ({ name, title: name, run: unopened });
  return resultOf(
    { ...line, targets },
    [
      { side: side('platform'), runs: runsAt(ratios.map((ratio) => 1_000 * ratio)) },
      { side: side('bare'), runs: runsAt(ratios.map(() => 1_000)) },
    ],
    { machine: {}, scale: 1 },
  );
}

test('pairs that agree, but for one, are not noisy, and the ratio is their median', () => {
  const { sides, isNoisy } = resultOfRatios([0.62, 0.64, 0.2, 0.63, 0.61]);
  expect(sides[1]?.ratio).toMatchObject({ median: 0.62, min: 0.2, max: 0.64 });
  expect(isNoisy).toBe(false);
});

test.each([
  ['of which most meet the target', [0.7, 0.75, 0.9, 1, 1.1], false],
  ['of which most miss the target', [0.2, 0.3, 0.4, 0.5, 0.59], false],
  ['that differ on whether the target is met', [0.4, 0.5, 0.61, 0.7, 0.8], true],
])('pairs that tell different stories, %s', (_, ratios, isUndecided) => {
  expect(resultOfRatios(ratios)).toMatchObject({ isNoisy: true, isUndecided });
});

test('the p99 of the platform has a limit beside that of a side, pair by pair', () => {
  const runsAt = (p99s: number[]) =>
    p99s.map(
      (p99Ms): Run => ({
        count: 1,
        window: { seconds: 1, otherCores: 0, usages: {} },
        latency: { p50Ms: 1, p99Ms },
        content: '',
      }),
    );
  const side = (name: string): Side => ({ name, title: name, run: unopened });
  const result = resultOf(
    { ...line, p99AtMost: { bare: 2 } },
    [
      { side: side('platform'), runs: runsAt([30, 50, 90]) },
      { side: side('bare'), runs: runsAt([20, 20, 30]) },
    ],
    { machine: {}, scale: 1 },
  );
  expect(result.sides[1]?.p99Ratio).toMatchObject({ median: 2.5, atMost: 2 });
  expect(tableOf(result)).toContain('by p99: 2.50 (1.50..3.00); at most 2: MISSED');
});

test('where there is no target, nothing is left undecided', () => {
  expect(resultOfRatios([0.4, 0.5, 0.61, 0.7, 0.8], {})).toMatchObject({ isNoisy: true, isUndecided: false });
});

test('what a web process or a worker holds of its own has a limit, which a line may move; the bare side has none', () => {
  const usage = { cpuSeconds: 1, peakMb: 260, ownPeakMb: 200 };
  const usages = { web: usage, 'worker-1': usage, mysql: usage };
  const runs: Run[] = [{ count: 1, window: { seconds: 1, otherCores: 0, usages }, content: '' }];
  const side = (name: string): Side => ({ name, title: name, run: unopened });
  const sides = [
    { side: side('platform'), runs },
    { side: side('bare'), runs },
  ];
  const limitsOf = (moved: Line['memoryAtMost'] = {}) =>
    resultOf({ ...line, memoryAtMost: moved }, sides, { machine: {}, scale: 1 }).sides.map(({ ownPeakMb }) =>
      Object.values(ownPeakMb).map(({ atMost }) => atMost),
    );
  expect(limitsOf()).toEqual([
    [200, 300, undefined],
    [undefined, undefined, undefined],
  ]);
  expect(limitsOf({ web: 400 })[0]).toEqual([400, 300, undefined]);
});
