import { expect } from 'vitest';

/** A statement waits 5 seconds for a lock: who is done within this time has waited for none. */
const withoutWaitingMs = 4_500;

/** Does the work, and fails if it may have waited for a lock. Returns what the work does. */
export async function withoutWaiting<T>(work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  expect(performance.now() - startedAt).toBeLessThan(withoutWaitingMs);
  return result;
}
