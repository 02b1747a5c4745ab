import { expect, test } from 'vitest';

test('replaces a global', () => {
  globalThis.fetch = () => Promise.reject(new Error('planted'));
  expect(fetch).toBeTypeOf('function');
});
