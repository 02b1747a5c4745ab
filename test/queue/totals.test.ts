import { Redis } from 'ioredis';
import { beforeAll, expect, test } from 'vitest';
import { count, takeCounts } from '../../shared/common/metrics.ts';
import { config } from '../../shared/config/config.ts';
import { addTotals, closeQueues, readTotals, writeGauges } from '../../shared/queue/queue.ts';
import { isRedisUp } from '../support/database/redis-up.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { type OwnServer, startOwnRedis } from '../support/servers/own-servers.ts';
import { waitFor } from '../support/time/wait-for.ts';

let redis: OwnServer;
beforeAll(async () => {
  redis = await startOwnRedis();
  changeSettings({ REDIS_URL: redis.url });
  atEnd(closeQueues);
  await waitFor('Redis is there', isRedisUp);
});

/** Each fault makes Redis accept nothing; the returned function repairs it. */
const faults: Record<string, () => Promise<() => Promise<void>>> = {
  full: async () => {
    const control = new Redis(redis.url);
    atEnd(() => control.disconnect());
    await control.config('SET', 'maxmemory', '1');
    return async () => void (await control.config('SET', 'maxmemory', '0'));
  },
  dead: async () => {
    await redis.kill();
    return redis.start;
  },
};

test.each(Object.keys(faults))(
  'what is counted while Redis is %s is kept, and reported later',
  async (fault) => {
    const names = [`${fault}_emails`, `${fault}_events`] as const;
    const mend = await faults[fault]!();
    const held = new Map<string, number>();
    for (const report of [1, 2]) {
      for (const name of names) count(name, {}, 3);
      addTotals([...held, ...takeCounts()]);
      held.clear();
      // The counts of the previous report come back as well.
      await waitFor('it comes back', () => {
        for (const [name, by] of takeCounts()) held.set(name, (held.get(name) ?? 0) + by);
        return names.every((name) => held.get(name) === 3 * report);
      });
    }
    await mend();
    await waitFor('Redis is there', isRedisUp);
    addTotals([...held]);
    expect(await readTotals()).toMatchObject(Object.fromEntries(names.map((name) => [name, 6])));
    expect(takeCounts()).toEqual([]);
  },
);

test('what is counted while Redis hangs is added up meanwhile, and counted once when Redis goes on', async () => {
  const control = new Redis(redis.url);
  atEnd(() => control.disconnect());
  await control.config('RESETSTAT');
  redis.freeze();
  for (let report = 0; report < 3; report += 1) {
    count('hung_emails', {}, 5);
    addTotals(takeCounts());
    // The question was asked after the report, and its time is up.
    expect(await isRedisUp()).toBe(false);
  }
  for (let report = 0; report < 100; report += 1) {
    count('hung_emails', {}, 1);
    addTotals(takeCounts());
  }
  // The last report of a process keeps nothing back.
  addTotals(takeCounts(), { isLast: true });
  expect(takeCounts()).toEqual([]);
  redis.thaw();
  const isCounted = async () => ((await readTotals())?.['hung_emails'] ?? 0) >= 115;
  await waitFor('all is counted', isCounted);
  expect(await readTotals()).toMatchObject({ hung_emails: 115 });
  expect(takeCounts()).toEqual([]);
  expect(await control.info('commandstats')).toMatch(/^cmdstat_hincrby:calls=[1-3],/m);
});

test('what a process said that has been killed is swept away, though nobody reads it', async () => {
  const control = new Redis(redis.url);
  atEnd(() => control.disconnect());
  const key = `${config.QUEUE_PREFIX}:gauges`;
  await waitFor('Redis takes it', () => control.hset(key, 'emails_waiting gone-1', '3 0').then(() => true));
  await waitFor('it is swept away', async () => {
    writeGauges([['emails_waiting', 1]]);
    return (await control.hexists(key, 'emails_waiting gone-1')) === 0;
  });
  expect(await control.hlen(key)).toBe(1);
});
