import { expect, test } from 'vitest';
import type { EmailLane } from '../../../shared/schemas/lanes.ts';
import { createSlots, type ReleaseSlot } from '../../../shared/transports/smtp/slots.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const neverMs = 2 ** 31 - 1;

/** Makes slots, and records the lanes that got one, in order; `take` asks for one more, `release` gives one back. */
function begin(total: number) {
  const slots = createSlots(total);
  const started: EmailLane[] = [];
  const held: { lane: EmailLane; owner: string | undefined; release: ReleaseSlot }[] = [];
  const take = (lane: EmailLane, owner?: string, waitMs = neverMs) =>
    void slots.take({ lane, owner }, waitMs).then((release) => {
      if (!release) return;
      started.push(lane);
      held.push({ lane, owner, release });
    });
  const release = (lane: EmailLane, owner?: string, wasUsed = true) =>
    held
      .splice(
        held.findIndex((one) => one.lane === lane && one.owner === owner),
        1,
      )[0]!
      .release(wasUsed);
  const heldBy = (owner: string) => held.filter((one) => one.owner === owner).length;
  const settled = () => new Promise(setImmediate);
  return { slots, started, take, release, heldBy, settled };
}

test('marketing and transactional email leave slots to what comes before them', async () => {
  const { slots, started, take, settled } = begin(20);
  for (let count = 0; count < 30; count += 1) take('marketing');
  await settled();
  expect(started).toHaveLength(16);
  for (let count = 0; count < 30; count += 1) take('transactional');
  await settled();
  expect(started).toHaveLength(18);
  for (let count = 0; count < 3; count += 1) take('authentication');
  await settled();
  expect(started.slice(18)).toEqual(['authentication', 'authentication']);
  expect(slots.busy()).toBe(20);
});

test('a one-time code gets the next slot that is free, whoever waits', async () => {
  const { started, take, release, settled } = begin(1);
  for (let count = 0; count < 20; count += 1) take('marketing');
  take('transactional');
  take('authentication');
  await settled();
  release('marketing');
  await settled();
  expect(started.at(-1)).toBe('authentication');
});

test('the last lane moves on while the first ones never end', async () => {
  const { started, take, release, settled } = begin(1);
  take('authentication');
  take('marketing');
  await settled();
  let running: EmailLane = 'authentication';
  for (let count = 0; count < 10; count += 1) {
    take('authentication');
    take('transactional');
    release(running);
    await settled();
    running = started.at(-1)!;
  }
  expect(started).toContain('marketing');
});

test('whoever gives up waiting takes nothing, and who waits longest in a lane is next in it', async () => {
  const { slots, started, take, release, settled } = begin(1);
  take('marketing');
  await settled();
  take('authentication', undefined, 1);
  await waitFor('it gives up', () => slots.waiting() === 0);
  release('marketing');
  expect(slots.busy()).toBe(0);
  take('transactional');
  await settled();
  expect(started).toEqual(['marketing', 'transactional']);
});

// Shows F27
test('no more of a workspace may wait than is said, so that they hold no places that others need', async () => {
  const { slots, take, settled } = begin(1);
  take('transactional', 'hanging');
  take('transactional', 'hanging');
  await settled();
  const ask = (owner: string) => slots.take({ lane: 'transactional', owner }, neverMs, 1);
  expect(await ask('hanging')).toBe(null);
  void ask('other');
  expect(slots.waiting()).toBe(2);
});

const lanes = ['authentication', 'transactional', 'marketing'] as const;

test.each(lanes)('eight workspaces whose emails hang leave slots of the lane %s to others', async (lane) => {
  const { take, heldBy, settled } = begin(20);
  const hanging = Array.from({ length: 8 }, (_, index) => `hanging-${index}`);
  for (const owner of hanging) for (let count = 0; count < 30; count += 1) take(lane, owner);
  await settled();
  for (const owner of hanging) expect(heldBy(owner)).toBeGreaterThan(0);
  take(lane, 'honest');
  await settled();
  expect(heldBy('honest')).toBe(1);
});

test('however many workspaces hang, one that is known to be quick has a slot', async () => {
  const { take, release, heldBy, settled } = begin(20);
  take('transactional', 'quick');
  await settled();
  release('transactional', 'quick');
  for (let index = 0; index < 100; index += 1) take('transactional', `hanging-${index}`);
  await settled();
  take('transactional', 'new');
  take('transactional', 'quick');
  await settled();
  expect([heldBy('new'), heldBy('quick')]).toEqual([0, 1]);
});

// Shows F27
test('three workspaces that were quick and whose emails now hang leave a slot to a fourth', async () => {
  const { take, release, heldBy, settled } = begin(20);
  const hanging = ['a', 'b', 'c'];
  for (const owner of hanging) {
    take('transactional', owner);
    await settled();
    release('transactional', owner);
  }
  for (const owner of hanging) for (let count = 0; count < 30; count += 1) take('transactional', owner);
  take('transactional', 'd');
  await settled();
  expect(['d', ...hanging].map(heldBy)).toEqual([1, 15, 1, 1]);
});

test.each([
  [1, 1, 0],
  [2, 1, 1],
  [3, 2, 1],
  [7, 5, 1],
  [9, 7, 1],
  [100, 83, 14],
])('of %i slots a quick workspace alone has %i, and the next one %i', async (total, first, second) => {
  const { take, release, heldBy, settled } = begin(total);
  for (const owner of ['first', 'second']) {
    take('authentication', owner);
    await settled();
    release('authentication', owner);
  }
  for (let count = 0; count < 100; count += 1) take('authentication', 'first');
  for (let count = 0; count < 100; count += 1) take('authentication', 'second');
  await settled();
  expect(['first', 'second'].map(heldBy)).toEqual([first, second]);
});

test('a workspace alone has most slots of its lane once one of its emails was quick', async () => {
  const { take, release, heldBy, settled } = begin(20);
  for (let count = 0; count < 30; count += 1) take('transactional', 'own');
  await settled();
  expect(heldBy('own')).toBe(6);
  release('transactional', 'own', false);
  await settled();
  expect(heldBy('own')).toBe(6);
  release('transactional', 'own');
  await settled();
  expect(heldBy('own')).toBe(15);
  take('transactional', 'other');
  await settled();
  expect(heldBy('other')).toBe(1);
});

test('a first one-time code has a slot beside the marketing of its own workspace and of others', async () => {
  const { started, take, release, heldBy, settled } = begin(20);
  const busy = ['own', 'other'];
  for (const owner of busy) take('marketing', owner);
  await settled();
  for (const owner of busy) release('marketing', owner);
  for (const owner of busy) for (let count = 0; count < 30; count += 1) take('marketing', owner);
  take('transactional', 'own');
  take('transactional', 'other');
  await settled();
  expect(started.filter((lane) => lane === 'marketing').length - busy.length).toBe(14);
  expect(started.filter((lane) => lane === 'transactional')).toHaveLength(2);
  const before = busy.map(heldBy);
  for (const owner of busy) take('authentication', owner);
  await settled();
  expect(busy.map(heldBy)).toEqual(before.map((count) => count + 1));
});
