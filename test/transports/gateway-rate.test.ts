import { beforeAll, beforeEach, expect, test } from 'vitest';
import { closeQueues } from '../../shared/queue/queue.ts';
import { sharedTokenBucket } from '../../shared/transports/sms/token-bucket.ts';
import { forgetRedis } from '../support/database/database.ts';
import { isRedisUp } from '../support/database/redis-up.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { waitFor } from '../support/time/wait-for.ts';

const longMs = 60_000;
beforeAll(async () => {
  // The wait is long, so that a busy machine does not make the test fail.
  changeSettings({ RATE_LIMIT_WAIT_SECONDS: 30 });
  atEnd(forgetRedis);
  atEnd(closeQueues);
  await waitFor('Redis is there', isRedisUp);
});
beforeEach(forgetRedis);

/** Returns when each turn came, in milliseconds after the start. */
async function timesOf(turns: number, takers: ((longestWaitMs: number) => Promise<boolean>)[]) {
  const start = performance.now();
  const times = await Promise.all(
    Array.from({ length: turns }, async (_, index) => {
      expect(await takers[index % takers.length]!(longMs)).toBe(true);
      return performance.now() - start;
    }),
  );
  return times.toSorted((one, other) => one - other);
}

test('three processes together have the rate of the gateway, and not each of them', async () => {
  const [perSecond, burst] = [60, 6];
  const takers = [1, 2, 3].map(() => sharedTokenBucket('carrier', perSecond).take);
  const times = await timesOf(36, takers);
  times.forEach((time, index) => {
    // No turn comes before a token for it can exist.
    expect(time).toBeGreaterThanOrEqual(((index + 1 - burst) / perSecond) * 1000 - 1);
  });
});

test('each gateway has a rate of its own', async () => {
  const one = sharedTokenBucket('one', 0.001);
  const other = sharedTokenBucket('other', 0.001);
  expect([await one.take(longMs), await other.take(longMs)]).toEqual([true, true]);
  expect([await one.take(0), await other.take(0)]).toEqual([false, false]);
});

test('a turn that would come too late is refused, and takes no token from the others', async () => {
  const [first, second] = [sharedTokenBucket('carrier', 2), sharedTokenBucket('carrier', 2)];
  expect(await first.take(longMs)).toBe(true);
  const start = performance.now();
  const late = await Promise.all(Array.from({ length: 20 }, () => first.take(50)));
  const seconds = (performance.now() - start) / 1000;
  // On a busy machine the asking takes so long that tokens come back meanwhile.
  expect(late.filter((isGranted) => isGranted).length).toBeLessThanOrEqual(1 + 2 * seconds);
  expect(await second.take(longMs)).toBe(true);
});
