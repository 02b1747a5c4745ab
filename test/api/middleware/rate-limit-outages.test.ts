import { afterEach, beforeAll, expect, test } from 'vitest';
import { tokenBuckets } from '../../../api/middleware/token-buckets.ts';
import { config } from '../../../shared/config/config.ts';
import { closeQueues } from '../../../shared/queue/queue.ts';
import { forgetRedis } from '../../support/database/database.ts';
import { isRedisUp } from '../../support/database/redis-up.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { startSmallApi } from '../endpoint/small-api.ts';

let redis: TcpProxy;
beforeAll(async () => {
  const own = config.REDIS_URL;
  redis = await startTcpProxy(own, 6379);
  changeSettings({ REDIS_URL: redis.url, RATE_LIMIT_WAIT_SECONDS: 0.2 });
  atEnd(async () => {
    changeSettings({ REDIS_URL: own });
    await forgetRedis();
  });
  atEnd(closeQueues);
  await waitFor('Redis is there', isRedisUp);
});
afterEach(async () => {
  await redis.pass();
  await waitFor('Redis is there', isRedisUp);
});

/** No token comes back while the test runs. */
const limit = { kind: 'key', perSecond: 1e-3, burst: 5 } as const;
/** How many requests have waited for Redis. */
let waited = 0;

type Buckets = ReturnType<typeof tokenBuckets>;

async function passed(buckets: Buckets, id: string, tries: number): Promise<number> {
  let count = 0;
  for (let index = 0; index < tries; index += 1) {
    const taken = buckets.take([id]);
    if (taken instanceof Promise) waited += 1;
    if (!(await taken).refusedBy) count += 1;
  }
  return count;
}

let ids = 0;

/** Returns whether both processes count in the same bucket. */
async function share([one, two]: readonly [Buckets, Buckets]): Promise<boolean> {
  ids += 1;
  const id = `shared ${ids}`;
  return (await passed(one, id, 3)) + (await passed(two, id, 3)) === 5;
}

test.each(['refuse', 'freeze'] as const)(
  'while Redis is away (%s) each process holds the limit by itself, without delay, and shares it afterwards',
  async (fault) => {
    // The processes ask Redis again each second, so their clock stands still while Redis is away.
    let time = performance.now();
    const start = () => tokenBuckets([limit], () => time);
    const processes = [start(), start()] as const;
    const sharing = () => {
      time += 1_000;
      return share(processes);
    };
    await waitFor('the processes share a limit', sharing);
    redis[fault]();
    waited = 0;
    for (const one of processes) for (const id of ['a', 'b', 'c']) expect(await passed(one, id, 8)).toBe(5);
    // Only the first request of each process waits, and finds out that Redis is away.
    expect(waited).toBeLessThanOrEqual(processes.length);
    await redis.pass();
    await waitFor('the processes share a limit again', sharing);
  },
);

test('only the first requests wait for a Redis that hangs, also when it hangs for long', async () => {
  let time = performance.now();
  const buckets = tokenBuckets([limit], () => time);
  await waitFor('Redis counts', async () => {
    ids += 1;
    return buckets.take([`asks ${ids}`]) instanceof Promise;
  });
  redis.freeze();
  const first = buckets.take(['a']);
  expect(first).toBeInstanceOf(Promise);
  expect((await first).refusedBy).toBeNull();
  for (let seconds = 0; seconds < 5; seconds += 1) {
    for (const id of ['a', 'b']) expect(buckets.take([`${id} ${seconds}`])).not.toBeInstanceOf(Promise);
    time += 1_000;
  }
});

// Shows F18
test('requests are answered at once while Redis hangs, and the limit holds', async () => {
  changeSettings({ RATE_LIMIT_PER_SECOND: 1e-3 });
  const api = await startSmallApi();
  redis.freeze();
  const statuses = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await api.call('GET', '/v2/parcels')).status);
  // All answers came while Redis hangs: it goes on only after the test.
  expect(statuses).toEqual([200, 429, 429, 429]);
});
