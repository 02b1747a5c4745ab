import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { skippableTimers } from '../../../support/time/skip-time.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { endpoint, limiterOf, send } from './gates.ts';

const origin = 'https://example.com';
/** Waits until all pending promise callbacks have run. */
const turn = () => new Promise(setImmediate);
const toOrigin = (
  limiter: ReturnType<typeof limiterOf>,
  webhookId: string,
  count: number,
  request: () => Promise<object>,
) => send(limiter, webhookId, count, request, 1, origin);

test('no more than 20 requests to an origin are out, however many webhooks lead there, and all are made', async () => {
  const [limiter, slow] = [limiterOf(), endpoint()];
  const all = Array.from({ length: 100 }, (_, index) => toOrigin(limiter, `${index}`, 3, slow.request));
  const other = endpoint();
  const beside = send(limiter, 'elsewhere', 20, other.request);
  await waitFor('those of another origin are out', () => other.out() === 20);
  for (let answered = 0; answered < 300; answered += 20) {
    await waitFor('20 are out', () => slow.unanswered() === 20);
    slow.answer(20);
  }
  await Promise.all(all.map((one) => one.all));
  expect(all.map(({ ended }) => ended.posted)).toEqual(Array(100).fill(3));
  expect(slow.most()).toBe(20);
  other.answer();
  await beside.all;
  expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
});

test('a webhook alone at its origin has all slots, and the next one its part as soon as they become free', async () => {
  const limiter = limiterOf();
  const [busy, second] = [endpoint(), endpoint()];
  const all = [toOrigin(limiter, 'busy', 60, busy.request)];
  await waitFor('it has all', () => busy.out() === 20);
  all.push(toOrigin(limiter, 'second', 30, second.request));
  await waitFor('all others wait', () => limiter.counts().waiting === 40 + 30);
  expect(second.out()).toBe(0);
  for (let freed = 1; freed <= 10; freed += 1) {
    busy.answer(1);
    await waitFor('the second has what has become free', () => second.out() === freed);
    expect(busy.out()).toBe(20 - freed);
  }
  // Now both have the same number of slots, and each gets back the slots that it frees.
  for (const each of [busy, second]) {
    each.answer(5);
    await waitFor('it has them again', () => each.unanswered() === 10);
    expect([busy.out(), second.out()]).toEqual([10, 10]);
  }
  // One webhook no longer needs its slots, so the other gets them.
  for (const count of [10, 10, 5]) {
    second.answer(count);
    await turn();
  }
  expect(second.out()).toBe(0);
  await waitFor('the first has all again', () => busy.out() === 20);
  while (limiter.counts().inFlight > 0) {
    busy.answer();
    await turn();
  }
  await Promise.all(all.map((one) => one.all));
  expect(all.map(({ ended }) => ended.posted)).toEqual([60, 30]);
  expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
});

test('who waits at an origin that does not answer is sent away, and so is who comes then', async () => {
  const [limiter, hanging] = [limiterOf({ patienceMs: 100 }), endpoint()];
  const many = Array.from({ length: 30 }, (_, index) => toOrigin(limiter, `${index}`, 20, hanging.request));
  await waitFor('nobody waits for them', () => hanging.out() === 20 && limiter.counts().waiting === 0);
  const late = toOrigin(limiter, 'late', 5, hanging.request);
  await late.all;
  expect(late.ended).toEqual({ posted: 0, sentAway: 5 });
  const { ended, all } = send(limiter, 'elsewhere', 100, async () => ({}));
  await all;
  expect(ended).toEqual({ posted: 100, sentAway: 0 });
  hanging.answer();
  await Promise.all(many.map((one) => one.all));
  // The origin answers again, so every new request is let in.
  const again = toOrigin(limiter, 'late', 5, async () => ({}));
  await again.all;
  expect(again.ended).toEqual({ posted: 5, sentAway: 0 });
});

test('for all webhooks of a slow origin together no more may wait than their part, and they leave room for others', async () => {
  const [limiter, slow] = [limiterOf({ waiting: 100 }), endpoint()];
  const skip = skippableTimers({ clock: true });
  const known = toOrigin(limiter, 'known', 20, slow.request);
  await waitFor('all are out', () => slow.unanswered() === 20);
  skip(500);
  slow.answer(1);
  await waitFor('it is known to take half a second', () => known.ended.posted === 1);
  const many = Array.from({ length: 50 }, (_, index) => toOrigin(limiter, `${index}`, 10, slow.request));
  const sentAway = () => many.reduce((sum, { ended }) => sum + ended.sentAway, 0);
  await waitFor('the others are sent away', () => sentAway() > 350);
  // The bound adds the guaranteed places of each queue (20, 20/2, 20/3 and so on) and the requests of about a second.
  expect(limiter.counts().waiting).toBeLessThanOrEqual(66 + 40 + 50);
  const other = send(limiter, 'elsewhere', 30, slow.request);
  await waitFor('the other has its slots', () => slow.out() >= 39);
  expect(other.ended.sentAway).toBe(0);
});

/** Steps of a run: new requests come, or requests are answered. */
const steps = fc.array(
  fc.oneof(
    fc.record({ webhook: fc.nat(4), origin: fc.nat(1), count: fc.integer({ min: 1, max: 12 }) }),
    fc.record({ answer: fc.integer({ min: 1, max: 8 }) }),
  ),
  { minLength: 5, maxLength: 40 },
);

test('in whatever order they come: no origin has more out than its slots, none stays free while one waits, and all are posted', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (course) => {
      const limiter = limiterOf({ perWebhook: 4 });
      const places = ['one', 'other'].map((name) => ({
        name,
        endpoint: endpoint(),
        sent: [] as ReturnType<typeof send>[],
        wanted: 0,
      }));
      const check = async () => {
        await turn();
        for (const { endpoint: to, sent, wanted } of places) {
          const posted = sent.reduce((sum, { ended }) => sum + ended.posted, 0);
          expect(to.out()).toBe(Math.min(4, wanted - posted));
        }
      };
      for (const step of course) {
        if ('answer' in step) for (const place of places) place.endpoint.answer(step.answer);
        else {
          const place = places[step.origin]!;
          const { name, endpoint: to } = place;
          place.sent.push(send(limiter, `${name} ${step.webhook}`, step.count, to.request, 1, name));
          place.wanted += step.count;
        }
        await check();
      }
      while (limiter.counts().inFlight > 0) {
        for (const place of places) place.endpoint.answer();
        await check();
      }
      await Promise.all(places.flatMap(({ sent }) => sent.map(({ all }) => all)));
      expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
    }),
    { numRuns: 300 },
  );
});
