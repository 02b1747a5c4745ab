import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { semaphore } from '../../shared/common/semaphore.ts';

const never = 3_600_000;
const two = () => semaphore({ permits: () => 2, waitMs: never, mostWaiting: 3 });
const isSettled = async (promise: Promise<unknown>) => {
  let settled = false;
  void promise.then(() => (settled = true));
  for (let turns = 0; turns < 3; turns += 1) await turn();
  return settled;
};

test('each key has its own permits; who comes while all are taken has them in turn', async () => {
  const { acquire } = two();
  const [first] = [await acquire('a'), await acquire('a')];
  const [third, fourth] = [acquire('a'), acquire('a')];
  expect(await acquire('b')).not.toBeNull();
  expect(await isSettled(third)).toBe(false);
  first!();
  // A second release has no effect.
  first!();
  expect(await isSettled(third)).toBe(true);
  expect(await isSettled(fourth)).toBe(false);
  (await third)!();
  expect(await isSettled(fourth)).toBe(true);
});

test('too many are not let wait, and who has waited in vain leaves room', async () => {
  const { acquire } = semaphore({ permits: () => 1, waitMs: 5, mostWaiting: 1 });
  const release = await acquire('a');
  const waiting = acquire('a');
  expect(await acquire('a')).toBeNull();
  expect(await waiting).toBeNull();
  const next = acquire('a');
  release!();
  expect(await next).not.toBeNull();
});

test('all that were given back can be had again', async () => {
  const { acquire } = two();
  for (let round = 0; round < 3; round += 1) {
    const held = [await acquire('a'), await acquire('a')];
    for (const release of held) release!();
  }
  expect(await Promise.all([acquire('a'), acquire('a')])).not.toContain(null);
});

test('a key has fewer permits while others hold many, and waits for them until the others give theirs back', async () => {
  const { acquire } = semaphore({ permits: (others) => Math.max(1, 4 - others), waitMs: never });
  const first = [await acquire('a'), await acquire('a'), await acquire('a')];
  expect(await acquire('b')).not.toBeNull();
  const second = acquire('b');
  expect(await isSettled(second)).toBe(false);
  first[0]!();
  expect(await isSettled(second)).toBe(true);
  // The other now has as many as its own are fewer.
  const again = acquire('a');
  expect(await isSettled(again)).toBe(false);
});
