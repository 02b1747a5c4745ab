import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { type Ask, leaseTokens } from '../../shared/coordination/rate-limits.ts';
import { closeQueues } from '../../shared/queue/queue.ts';
import { forgetRedis } from '../support/database/database.ts';
import { isRedisUp } from '../support/database/redis-up.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { waitFor } from '../support/time/wait-for.ts';

beforeAll(async () => {
  // The wait is long, so that a busy machine does not make the test fail.
  changeSettings({ RATE_LIMIT_WAIT_SECONDS: 30 });
  atEnd(forgetRedis);
  atEnd(closeQueues);
  await waitFor('Redis is there', isRedisUp);
});
beforeEach(forgetRedis);

/** Rates per second: with `standing` no token comes during a test; with `racing` the bucket is full at each call. */
const standing = 1e-6;
const racing = 1e9;
const longSeconds = 3600;

type Rest = Partial<Omit<Ask, 'limit'>> & { burst?: number };

async function lease(
  perSecond: number,
  holder: string,
  { burst = 10, ...rest }: Rest,
  lifeSeconds = longSeconds,
) {
  const limit = { kind: 'key', perSecond, burst } as const;
  const ask = { limit, id: 'a', held: 0, returned: 0, waiting: 0, want: 0, ...rest };
  const [answer] = await leaseTokens(holder, [ask], lifeSeconds);
  return answer!;
}

test('requests that wait get what there is, and no more', async () => {
  expect(await lease(standing, 'one', { waiting: 7 })).toEqual({ granted: 7, left: 3 });
  const { granted, left } = await lease(standing, 'two', { waiting: 7 });
  expect(granted).toBe(3);
  expect(left).toBeCloseTo(0, 2);
  expect((await lease(standing, 'one', { waiting: 1 })).granted).toBe(0);
});

test('what only might be of use is a tenth of what is left, and nothing near the limit', async () => {
  expect(await lease(standing, 'one', { want: 100 })).toEqual({ granted: 1, left: 9 });
  expect((await lease(standing, 'two', { want: 100 })).granted).toBe(0);
});

test('what is lent to one process is not given to another, however fast the bucket fills', async () => {
  expect((await lease(racing, 'one', { want: 4, burst: 100 })).granted).toBe(4);
  expect((await lease(racing, 'two', { waiting: 1000, burst: 100 })).granted).toBe(96);
  // The waiting requests have spent their tokens, and the bucket is full again except for the lent tokens.
  expect((await lease(racing, 'two', { waiting: 1000, burst: 100 })).granted).toBe(96);
  expect((await lease(racing, 'one', { held: 4, waiting: 1000, burst: 100 })).granted).toBe(96);
  expect((await lease(racing, 'one', { held: 1, waiting: 1000, burst: 100 })).granted).toBe(99);
});

test('tokens that come back are there for the others', async () => {
  expect((await lease(standing, 'one', { waiting: 8 })).granted).toBe(8);
  expect((await lease(standing, 'one', { returned: 5 })).granted).toBe(0);
  expect((await lease(standing, 'two', { waiting: 100 })).granted).toBe(7);
});

test('what comes back never fills a bucket beyond its burst', async () => {
  expect((await lease(racing, 'one', { waiting: 8 })).granted).toBe(8);
  expect((await lease(racing, 'one', { returned: 8 })).left).toBe(10);
  expect((await lease(racing, 'two', { waiting: 100 })).granted).toBe(10);
});

test('what a process held that is gone is there again once its lease has ended', async () => {
  const shortSeconds = 1e-6;
  expect((await lease(racing, 'gone', { want: 1 }, shortSeconds)).granted).toBe(1);
  expect((await lease(racing, 'one', { waiting: 100 })).granted).toBe(10);
});

test('whatever the processes ask for, they never hold more than the burst together', async () => {
  const holders = ['one', 'two', 'three', 'four'];
  const steps = fc.array(
    fc.record({
      holder: fc.constantFrom(...holders),
      spent: fc.nat(5),
      givesBack: fc.boolean(),
      waiting: fc.nat(20),
      want: fc.nat(30),
    }),
    { maxLength: 15 },
  );
  const burst = 60;
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(standing, racing), async (all, perSecond) => {
      runs += 1;
      const held = new Map(holders.map((holder) => [holder, 0]));
      let spent = 0;
      for (const step of all) {
        const before = held.get(step.holder)!;
        const now = Math.max(0, before - step.spent);
        spent += before - now;
        const rest = step.givesBack ? { held: 0, returned: now } : { held: now };
        const { waiting, want } = step;
        const ask = { id: `run ${runs}`, ...rest, waiting, want, burst };
        const answer = await lease(perSecond, step.holder, ask);
        const atOnce = Math.min(waiting, answer.granted);
        spent += atOnce;
        held.set(step.holder, rest.held + answer.granted - atOnce);
        const together = [...held.values()].reduce((sum, one) => sum + one, 0);
        expect(together).toBeLessThanOrEqual(burst);
        expect(answer.left).toBeLessThanOrEqual(burst - together + 1e-6);
        if (perSecond === standing) expect(spent + together).toBeLessThanOrEqual(burst);
      }
    }),
    { numRuns: 60 },
  );
});

test('several buckets are one call, each with a level of its own', async () => {
  const ask = { held: 0, returned: 0, waiting: 3, want: 0 };
  const key = { kind: 'key', perSecond: standing, burst: 10 } as const;
  const workspace = { kind: 'workspace', perSecond: standing, burst: 2 } as const;
  const asks = [
    { ...ask, limit: key, id: 'a' },
    { ...ask, limit: workspace, id: 'a' },
  ];
  expect(await leaseTokens('one', asks)).toEqual([
    { granted: 3, left: 7 },
    { granted: 2, left: 0 },
  ]);
});

test('a bucket goes by itself when it would be full and its leases have ended', async () => {
  const ask = { id: 'a', held: 0, returned: 0, waiting: 3, want: 0 };
  await leaseTokens('one', [{ ...ask, limit: { kind: 'key', perSecond: 1, burst: 10 } }], 5);
  const leftMs = await withRedis((redis) => redis.pttl(`${config.QUEUE_PREFIX}:rate:key:a`));
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(8_000);
});

async function withRedis<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(config.REDIS_URL);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
