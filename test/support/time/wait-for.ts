import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

type Falsy = false | 0 | '' | null | undefined;
const [shortestMs, longestMs] = [20, 250];

type Limits = { timeoutMs?: number; intervalMs?: number };

/**
 * Asks until the answer is truthy, and returns it. An error (a failed `expect`, a refused connection) means "not yet".
 * The limit is generous because it only matters when the test fails: the last answer is then in the message. Without an
 * interval it asks more rarely the longer it takes, since each question takes processor time from the awaited work.
 */
export async function waitFor<T>(
  description: string,
  ask: () => T | Promise<T>,
  { timeoutMs = 100_000, intervalMs }: Limits = {},
): Promise<Exclude<Awaited<T>, Falsy>> {
  const start = performance.now();
  for (;;) {
    let last: { value: unknown } | { error: unknown };
    try {
      const value = await ask();
      if (value) return value as Exclude<Awaited<T>, Falsy>;
      last = { value };
    } catch (error) {
      last = { error };
    }
    const waitedMs = performance.now() - start;
    if (waitedMs > timeoutMs) {
      const seen = 'error' in last ? last.error : last.value;
      const text = seen instanceof Error ? seen.message : inspect(seen, { depth: 4 });
      throw new Error(`Waited ${timeoutMs} ms in vain: ${description}. Last: ${text}`, { cause: seen });
    }
    await sleep(intervalMs ?? Math.min(Math.max(shortestMs, waitedMs / 8), longestMs));
  }
}

/** Waits for `wait`. Fails as soon as one of these requests is answered, and the error shows the answer. */
export function waitUnlessAnswered<T>(answers: Promise<unknown>[], wait: Promise<T>): Promise<T> {
  const instead = answers.map(async (answer): Promise<never> => {
    throw new Error(`Instead of waiting it answered: ${inspect(await answer, { depth: 4 })}`);
  });
  return Promise.race([wait, ...instead]);
}
