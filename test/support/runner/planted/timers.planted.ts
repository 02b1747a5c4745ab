import { expect, test, vi } from 'vitest';

test('leaves fake timers', () => {
  vi.useFakeTimers();
  expect(vi.isFakeTimers()).toBe(true);
});
