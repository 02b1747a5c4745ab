import { expect, test } from 'vitest';
import { createAdaptiveLimit } from '../../shared/work/adaptive-limit.ts';
import { waitFor } from '../support/time/wait-for.ts';

// A machine that stalls between two samples spoils one of them, so the tests wait until each result appears.
const settings = { intervalMs: 20 };

function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a process whose event loop is busy gets fewer slots, never less than the fewest', async () => {
  const limit = createAdaptiveLimit({ fewest: 2 });
  await waitFor('all slots', () => createAdaptiveLimit({ fewest: 2 })(20) === 20, settings);
  const seen: number[] = [];
  const busy = () => {
    compute(150);
    seen.push(limit(20));
    return seen.at(-1) === 2;
  };
  await waitFor('few slots', busy, settings);
  await waitFor('few slots again', busy, settings);
  expect(Math.min(...seen)).toBe(2);
});

test('once the loop is idle again the slots come back, up to the most', async () => {
  const limit = createAdaptiveLimit({ fewest: 2 });
  await waitFor('few slots', () => (compute(150), limit(6) === 2), settings);
  await waitFor('all slots', () => limit(6) === 6, settings);
  await waitFor('all that there are now', () => limit(4) === 4, settings);
  expect(limit(1)).toBe(2);
});
