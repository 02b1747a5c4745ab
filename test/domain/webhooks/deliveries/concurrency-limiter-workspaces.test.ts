import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { skippableTimers } from '../../../support/time/skip-time.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { endpoint, limiterOf, send } from './gates.ts';

const inFlight = 200;
const inAll = 250;
/** Waits until all pending promise callbacks have run. */
const turn = () => new Promise(setImmediate);
type Limiter = ReturnType<typeof limiterOf>;

/** Sends `each` deliveries to each of a workspace's origins, each of which has one webhook. */
function toOrigins(
  limiter: Limiter,
  workspaceId: string,
  origins: number,
  each: number,
  request: () => Promise<object>,
) {
  const sent = Array.from({ length: origins }, (_, index) => {
    const name = `${workspaceId} ${index}`;
    return send(limiter, name, each, request, 1, { workspaceId, origin: name });
  });
  const total = (of: 'posted' | 'sentAway') => sent.reduce((sum, { ended }) => sum + ended[of], 0);
  return { total, all: Promise.all(sent.map(({ all }) => all)) };
}

const quick = async () => ({});

test('a hundred hosts of each of many workspaces hang, and one more workspace has its slots at once', async () => {
  const [limiter, hanging] = [limiterOf({ inFlight, inAll, patienceMs: 100 }), endpoint()];
  const hostile = Array.from({ length: 8 }, (_, index) =>
    toOrigins(limiter, `hostile ${index}`, 100, 10, hanging.request),
  );
  await waitFor('nobody waits for them', () => hanging.out() > 0 && limiter.counts().waiting === 0);
  expect(hanging.out()).toBeLessThan(inAll);
  // They are sent away at once, and hold up no job.
  const late = hostile.map((_, index) => toOrigins(limiter, `hostile ${index}`, 100, 1, hanging.request));
  await waitFor('none of theirs waits', () => limiter.counts().waiting === 0);
  expect(hanging.out()).toBeLessThan(inAll);
  const honest = toOrigins(limiter, 'honest', 100, 5, quick);
  await honest.all;
  expect([honest.total('posted'), honest.total('sentAway')]).toEqual([500, 0]);
  hanging.answer();
  await Promise.all([...hostile, ...late].map(({ all }) => all));
  expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
});

test('hosts that were quick and then hang leave slots to other workspaces', async () => {
  const [limiter, hanging] = [limiterOf({ inFlight, inAll, patienceMs: 100 }), endpoint()];
  const names = Array.from({ length: 8 }, (_, index) => `hostile ${index}`);
  await Promise.all(names.map((name) => toOrigins(limiter, name, 100, 1, quick).all));
  const all = names.map((name) => toOrigins(limiter, name, 100, 10, hanging.request).all);
  await waitFor('nobody waits for them', () => hanging.out() > 0 && limiter.counts().waiting === 0);
  expect(hanging.out()).toBeLessThanOrEqual(inAll + 2 * names.length);
  const honest = toOrigins(limiter, 'honest', 1, 100, quick);
  await honest.all;
  expect(honest.total('sentAway')).toBe(0);
  hanging.answer();
  await Promise.all(all);
});

test('hosts of a workspace that hang leave slots to those of its hosts that are quick, and one to each that is new', async () => {
  const [limiter, hanging, known] = [limiterOf({ inFlight, inAll, patienceMs: 100 }), endpoint(), endpoint()];
  await toOrigins(limiter, 'own', 20, 1, quick).all;
  const to = (name: string, count: number, request: () => Promise<object>) =>
    send(limiter, name, count, request, 1, { workspaceId: 'own', origin: name });
  const many = Array.from({ length: 40 }, (_, index) => to(`hanging ${index}`, 30, hanging.request));
  await waitFor('nobody waits for them', () => hanging.out() > 0 && limiter.counts().waiting === 0);
  expect(hanging.out()).toBeLessThan(inFlight);
  const others = toOrigins(limiter, 'own', 20, 2, known.request);
  const first = to('new', 1, quick);
  await Promise.all([waitFor('each has its slots', () => known.out() === 40), first.all]);
  expect(first.ended.posted).toBe(1);
  known.answer();
  await others.all;
  hanging.answer();
  await Promise.all(many.map(({ all }) => all));
});

test('a host that answers one request now and then keeps no more waiting than a slow one may', async () => {
  const [limiter, slow] = [limiterOf({ inFlight, inAll, waiting: 50, patienceMs: 1_500 }), endpoint()];
  const skip = skippableTimers({ clock: true });
  const { ended, all } = send(limiter, 'a', 300, slow.request);
  await waitFor('as many are out as may be', () => slow.out() === 20);
  skip(1_400);
  slow.answer(1);
  skip(101);
  await waitFor('the others are sent away', () => limiter.counts().waiting <= 50 + 20);
  expect(ended.sentAway).toBeGreaterThan(200);
  while (limiter.counts().inFlight > 0) {
    slow.answer();
    await turn();
  }
  await all;
});

/** Steps of a run: new requests come, or requests are answered. */
const steps = fc.array(
  fc.oneof(
    fc.record({ workspace: fc.nat(2), origin: fc.nat(5), count: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ answer: fc.integer({ min: 1, max: 4 }) }),
  ),
  { minLength: 5, maxLength: 40 },
);

test('in whatever order they come: no workspace has more out than its share, and all are posted', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (course) => {
      const limiter = limiterOf({ perWebhook: 3, inFlight: 5, inAll: 6 });
      const places = Array.from({ length: 3 }, () => endpoint());
      const sent: { wanted: number; ended: { posted: number }; all: Promise<unknown> }[] = [];
      for (const step of course) {
        if ('answer' in step) for (const place of places) place.answer(step.answer);
        else {
          const { workspace, origin, count } = step;
          const name = { workspaceId: `${workspace}`, origin: `${origin}` };
          const { request } = places[workspace]!;
          sent.push({ wanted: count, ...send(limiter, `${workspace} ${origin}`, count, request, 1, name) });
        }
        await turn();
        for (const place of places) expect(place.out()).toBeLessThanOrEqual(5);
      }
      while (limiter.counts().inFlight > 0) {
        for (const place of places) place.answer();
        await turn();
      }
      await Promise.all(sent.map(({ all }) => all));
      expect(sent.map(({ ended }) => ended.posted)).toEqual(sent.map(({ wanted }) => wanted));
      expect(limiter.counts()).toEqual({ inFlight: 0, waiting: 0 });
    }),
    { numRuns: 200 },
  );
});
