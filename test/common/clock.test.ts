import { afterEach, expect, test, vi } from 'vitest';
import { databaseTime, now, setClock } from '../../shared/common/clock.ts';

const noon = Date.parse('2026-01-01T12:00:00Z');
const at = (epochMs: number) =>
  expect([databaseTime().getTime(), now().getTime()]).toEqual([epochMs, epochMs]);

/** Stops the monotonic clock at zero, and sets the platform's clock to noon. */
function begin(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  setClock(noon, { from: performance.now(), to: performance.now() });
  at(noon);
}
afterEach(() => void vi.useRealTimers());

test('between samples it runs on', () => {
  begin();
  vi.advanceTimersByTime(1_500);
  at(noon + 1_500);
});

test('a sample that took long changes nothing that it does not prove wrong', () => {
  begin();
  const from = performance.now();
  vi.advanceTimersByTime(8_000);
  // MySQL may have read its clock at the very end of the wait, or at its beginning.
  for (const readAfter of [8_000, 0]) {
    setClock(noon + readAfter, { from, to: performance.now() });
    at(noon + 8_000);
  }
});

test.each([
  // The answer took 30 ms. The clock moves as little as possible: MySQL read its time when it answered, or when asked.
  ['behind', 60_000, 60_000],
  ['ahead of', -60_000, -60_000 + 30],
])('a clock %s MySQL’s moves into what the sample leaves open', (_how, readMs, expectedMs) => {
  begin();
  const from = performance.now();
  vi.advanceTimersByTime(30);
  setClock(noon + readMs, { from, to: performance.now() });
  at(noon + expectedMs);
});
