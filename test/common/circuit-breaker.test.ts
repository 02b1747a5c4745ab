import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCircuitBreaker } from '../../shared/common/circuit-breaker.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('pauses grow up to the longest, each ends with one that looks, and all begins anew when it is over', async () => {
  const told: (number | 'over')[] = [];
  const pause = createCircuitBreaker(
    { firstPauseMs: 1_000, longestPauseMs: 5_000, longestWaitMs: 0 },
    { paused: (pauseMs) => told.push(pauseMs), over: () => told.push('over') },
  );
  for (let faults = 0; faults < 3; faults += 1) pause.note(true);
  for (const pauseMs of [1_000, 2_000, 4_000, 5_000, 5_000]) {
    expect(await pause.pass()).toEqual({ waitMs: pauseMs });
    expect(pause.holdsBack()).toBe(true);
    vi.advanceTimersByTime(pauseMs);
    expect(pause.holdsBack()).toBe(false);
    const probe = await pause.pass();
    expect(pause.holdsBack()).toBe(true);
    expect(probe).toHaveProperty('leave');
    expect(await pause.pass()).toHaveProperty('waitMs');
    pause.note(true);
    if ('leave' in probe) probe.leave();
  }
  expect(told).toEqual([1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
  pause.note(false);
  expect([pause.isPaused(), pause.holdsBack(), told.at(-1)]).toEqual([false, false, 'over']);
  for (let faults = 0; faults < 3; faults += 1) pause.note(true);
  expect(told.at(-1)).toBe(1_000);
});
