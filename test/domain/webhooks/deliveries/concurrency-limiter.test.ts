import { expect, onTestFinished, test, vi } from 'vitest';
import {
  type ConcurrencyLimiter,
  createConcurrencyLimiter,
  type Permit,
} from '../../../../shared/domain/webhooks/deliveries/concurrency-limiter.ts';
import { skippableTimers } from '../../../support/time/skip-time.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { endpoint, limiterOf, limits, send } from './gates.ts';

/** Takes all slots of webhook `a` but one, after the limiter has seen that its answers take half a second. */
async function fillSlowly(limiter: ConcurrencyLimiter, slow: ReturnType<typeof endpoint>): Promise<void> {
  const skip = skippableTimers({ clock: true });
  const known = send(limiter, 'a', 20, slow.request);
  await waitFor('all are out', () => slow.unanswered() === 20);
  skip(500);
  slow.answer(1);
  await waitFor('it is known to take half a second', () => known.ended.posted === 1);
}

test('no more than 20 requests to a webhook are out, and all that may wait are made', async () => {
  const [limiter, slow] = [limiterOf(), endpoint()];
  const { ended, all } = send(limiter, 'a', 100, slow.request);
  for (let turn = 0; turn < 5; turn += 1) {
    await waitFor('20 are out', () => slow.unanswered() === 20);
    slow.answer(20);
  }
  await all;
  expect(ended).toEqual({ posted: 100, sentAway: 0 });
  expect(slow.most()).toBe(20);
  expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
});

test('webhooks that do not answer leave slots and places to those that do', async () => {
  const [limiter, hanging] = [limiterOf({ patienceMs: 100 }), endpoint()];
  const many = Array.from({ length: 100 }, (_, index) =>
    send(limiter, `hanging ${index}`, 30, hanging.request),
  );
  // Each webhook has one or two slots; requests that wait for a slot time out.
  await waitFor('nobody waits for them', () => hanging.out() >= 200 && limiter.counts().waiting === 0);
  expect(hanging.out()).toBeLessThan(400 + 2 * 100);
  const { ended, all } = send(limiter, 'healthy', 500, async () => ({}));
  await all;
  expect(ended).toEqual({ posted: 500, sentAway: 0 });
  hanging.answer();
  await Promise.all(many.map((one) => one.all));
});

test('while a webhook answers, who waits for it may wait for longer', async () => {
  const [limiter, slow] = [limiterOf({ perWebhook: 2, patienceMs: 300 }), endpoint()];
  // On a busy machine the real time between two answers could be longer than the patience, so timers are fake.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { ended, all } = send(limiter, 'a', 20, slow.request);
  while (ended.posted < 20) {
    await vi.advanceTimersByTimeAsync(50);
    slow.answer();
  }
  await all;
  expect(ended).toEqual({ posted: 20, sentAway: 0 });
});

test('who waits too long is sent away without having been posted', async () => {
  const [limiter, hanging] = [limiterOf({ longestWaitMs: 50, patienceMs: 50 }), endpoint()];
  const { ended } = send(limiter, 'a', 60, hanging.request);
  await waitFor('the others are sent away', () => ended.sentAway === 40);
  expect(hanging.out()).toBe(20);
  hanging.answer();
  await waitFor('those that were out are done', () => ended.posted === 20);
  expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
});

test('for a slow webhook no more may wait than its part, and it leaves room for others', async () => {
  const [limiter, slow] = [limiterOf({ waiting: 100 }), endpoint()];
  await fillSlowly(limiter, slow);
  const { ended } = send(limiter, 'a', 500, slow.request);
  // The part is the requests that would end within a second, or half of all places.
  await waitFor('the others are sent away', () => ended.sentAway > 350);
  expect(limiter.counts().waiting).toBeLessThanOrEqual(100);
  const other = send(limiter, 'b', 30, slow.request);
  await waitFor('the other has its slots', () => slow.out() >= 39);
  expect(other.ended.sentAway).toBe(0);
});

test('what waits counts in jobs: ten deliveries that share one hold up no more than a delivery alone', async () => {
  const [limiter, slow] = [limiterOf({ waiting: 10 }), endpoint()];
  await fillSlowly(limiter, slow);
  const { ended } = send(limiter, 'a', 500, slow.request, 0.1);
  await waitFor('the others are sent away', () => ended.sentAway > 350);
  // Half of all places, that is five jobs.
  expect(limiter.counts().waiting).toBeGreaterThan(40);
  expect(limiter.counts().waiting).toBeLessThanOrEqual(100);
});

test('while the process itself is what all wait for, nobody is sent away for a slow webhook', async () => {
  const changing = { ...limits, waiting: 10 };
  const [limiter, slow] = [createConcurrencyLimiter(changing), endpoint()];
  await fillSlowly(limiter, slow);
  changing.isSaturated = true;
  const { ended } = send(limiter, 'a', 500, slow.request);
  await waitFor('all wait', () => limiter.counts().waiting >= 480);
  changing.isSaturated = false;
  const late = send(limiter, 'a', 1, slow.request);
  await late.all;
  expect(late.ended.sentAway).toBe(1);
  expect(ended.sentAway).toBe(0);
});

test('for a webhook that is known to be quick any number may wait', async () => {
  const limiter = limiterOf({ waiting: 10 });
  let [answered, answer] = [0, () => {}];
  const quick = async () => {
    answered += 1;
    return {};
  };
  const long = () => new Promise<object>((resolve) => (answer = () => resolve({})));
  // The queue of a webhook is kept while one of its requests is out.
  const one = send(limiter, 'a', 1, long);
  await waitFor('it is out', () => limiter.counts().inFlight === 1);
  await send(limiter, 'a', 10, quick).all;
  const { ended, all } = send(limiter, 'a', 400, quick);
  await all;
  answer();
  await one.all;
  expect(ended).toEqual({ posted: 400, sentAway: 0 });
  expect(answered).toBe(410);
});

test('no more are claimed ahead of their slots than all webhooks together may, and each goes on', async () => {
  const limiter = limiterOf({ ahead: 50, perWebhook: 2, inFlight: 4_000 });
  const webhooks = Array.from({ length: 30 }, (_, index) => `webhook-${index}`);
  // The limiter has seen that each webhook is quick, while one request of each is out.
  const slow = endpoint();
  const first = webhooks.map((id) => send(limiter, id, 1, slow.request));
  await waitFor('one of each is out', () => slow.out() === 30);
  for (const id of webhooks) await send(limiter, id, 20, async () => ({})).all;
  const places: Permit[] = [];
  const turns = webhooks.flatMap((id) =>
    Array.from({ length: 100 }, async () => {
      const place = await limiter.enter(id, { workspaceId: id, origin: id }, 1);
      if (place) places.push(place);
    }),
  );
  await waitFor('the others wait', () => limiter.counts().waiting === 3_000 - places.length);
  // Each webhook has one more slot, beside the slots shared by all.
  expect(places.length).toBeGreaterThanOrEqual(50);
  expect(places.length).toBeLessThanOrEqual(50 + 2 * 30);
  for (let next = places.pop(); next || limiter.counts().waiting > 0; next = places.pop()) {
    next?.leave();
    await Promise.resolve();
  }
  await Promise.all(turns);
  slow.answer();
  await Promise.all(first.map(({ all }) => all));
  expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
});

test('a place that is given up goes to the next', async () => {
  const limiter = limiterOf({ perWebhook: 2 });
  const places = await Promise.all(
    Array.from({ length: 4 }, () => limiter.enter('a', { workspaceId: 'a', origin: 'a' }, 1)),
  );
  const next = limiter.enter('a', { workspaceId: 'a', origin: 'a' }, 1);
  expect(await Promise.race([next, Promise.resolve('waits')])).toBe('waits');
  places[0]!.leave();
  places[0]!.leave();
  expect(await next).not.toBeNull();
  expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
});

test('a request that fails gives its slot back', async () => {
  const limiter = limiterOf({ perWebhook: 2 });
  for (let count = 0; count < 10; count += 1) {
    const place = (await limiter.enter('a', { workspaceId: 'a', origin: 'a' }, 1)) as Permit;
    await expect(place.post(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  }
  expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
});
