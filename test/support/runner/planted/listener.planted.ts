import { expect, test } from 'vitest';

test('leaves a listener at the process', () => {
  process.on('SIGTERM', () => undefined);
  expect(process.listenerCount('SIGTERM')).toBeGreaterThan(0);
});
