import { expect, test } from 'vitest';
import { callerLimits } from '../../../api/middleware/rate-limit.ts';
import { closeQueues } from '../../../shared/queue/queue.ts';
import { keptMemory } from '../../support/processes/kept-memory.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';

// Nothing listens at this address, so this process counts alone, by a clock that the tests move.
changeSettings({ REDIS_URL: 'redis://127.0.0.1:1' });
atEnd(closeQueues);

function limitsOf(key: number, clock: () => number = () => 0, workspace = 0) {
  changeSettings({ RATE_LIMIT_PER_SECOND: key, WORKSPACE_RATE_LIMIT_PER_SECOND: workspace });
  const limits = callerLimits(clock);
  return (lineageId: string, workspaceId = 'workspace') => {
    const taken = limits.take({ lineageId, workspaceId });
    if (taken instanceof Promise) throw new Error('A request waits for a Redis that is away');
    return taken;
  };
}

test('while Redis is away a key may burst to twice its rate, then gets its rate', () => {
  let time = 0;
  const take = limitsOf(10, () => time);
  const passed = (tries: number) =>
    Array.from({ length: tries }, () => take('a')).filter(({ refusal }) => !refusal).length;
  expect(passed(30)).toBe(20);
  time += 1000;
  expect(passed(30)).toBe(10);
  time += 3_600_000;
  expect(passed(30)).toBe(20);
});

test('a refusal says when to come again, and then there is room', () => {
  let time = 0;
  const take = limitsOf(0.5, () => time);
  expect(take('a').refusal).toBeNull();
  expect(take('a').refusal?.options.retryAfterSeconds).toBe(2);
  time += 2000;
  expect(take('a').refusal).toBeNull();
});

test('with two limits the longer wait is the one that is told', () => {
  const take = limitsOf(0.5, () => 0, 0.1);
  expect(take('a').refusal).toBeNull();
  expect(take('a').refusal?.options).toMatchObject({
    retryAfterSeconds: 10,
    detail: 'All keys of a workspace together may make at most 0.1 requests a second.',
  });
});

test('one key does not use up the limit of another', () => {
  const take = limitsOf(1);
  take('a');
  take('a');
  expect([take('a').refusal, take('b').refusal]).toEqual([expect.any(Error), null]);
});

test('the headers count down', () => {
  const take = limitsOf(1, () => 0, 2);
  const seen = Array.from({ length: 3 }, () => take('a').headers['RateLimit']);
  expect(seen).toEqual([
    '"default";r=1;t=1, "workspace";r=3;t=1',
    '"default";r=0;t=2, "workspace";r=2;t=1',
    '"default";r=0;t=2, "workspace";r=2;t=1',
  ]);
});

test('any number of keys neither open the limit of a busy key nor fill the memory', () => {
  const take = limitsOf(1);
  take('busy');
  take('busy');
  const before = keptMemory().heapUsed;
  for (let round = 0; round < 100; round += 1) {
    for (let key = 0; key < 1000; key += 1) take(`${round} ${key}`);
    expect(take('busy').refusal).not.toBeNull();
  }
  // At most a tenth of the buckets is kept; all of them would be some 40 megabytes.
  expect(keptMemory().heapUsed - before).toBeLessThan(15_000_000);
  // The limit was in use until here, so the garbage collector could not free its buckets.
  expect(take('busy').refusal).not.toBeNull();
});
