import { expect, test } from 'vitest';
import { createAdaptiveLimit } from '../../shared/work/adaptive-limit.ts';
import { waitFor } from '../support/time/wait-for.ts';

const settings = { timeoutMs: 30_000, intervalMs: 20 };

function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a process whose event loop is busy gets fewer slots, never less than the fewest', async () => {
  const limit = createAdaptiveLimit({ fewest: 2 });
  expect(limit(20)).toBe(20);
  await waitFor(
    'few slots',
    () => {
      compute(150);
      return limit(20) === 2;
    },
    settings,
  );
  compute(150);
  await Promise.resolve();
  expect(limit(20)).toBe(2);
});

test('once the loop is idle again the slots come back, up to the most', async () => {
  const limit = createAdaptiveLimit({ fewest: 2 });
  await waitFor('few slots', () => (compute(150), limit(6) === 2), settings);
  await waitFor('all slots', () => limit(6) === 6, settings);
  expect(limit(4)).toBe(4);
  expect(limit(1)).toBe(2);
});
