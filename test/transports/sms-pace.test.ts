import { expect, test, vi } from 'vitest';
import { createPace } from '../../shared/transports/sms/pace.ts';

test('the pace of a gateway that takes nothing is 0 however rarely it is read, and begins anew with the first text', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const pace = createPace(100);
    expect(pace.perSecond()).toBe(100);
    vi.advanceTimersByTime(2_000);
    expect(pace.perSecond()).toBeLessThan(80);
    // A gateway that nobody uses for a while is expected to be as fast as at first.
    vi.advanceTimersByTime(10_000);
    expect(pace.perSecond()).toBe(100);
    pace.stop();
    expect(pace.perSecond()).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(pace.perSecond()).toBe(0);
    pace.note();
    expect(pace.perSecond()).toBeGreaterThanOrEqual(100);
  } finally {
    vi.useRealTimers();
  }
});
