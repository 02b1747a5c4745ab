import { expect, test } from 'vitest';
import type { EmailLane } from '../../../shared/schemas/lanes.ts';
import { createSlots } from '../../../shared/transports/smtp/slots.ts';

const never = new AbortController().signal;

/** Makes slots, and records the lanes that got one, in order; `take` asks for one more. */
function begin(total: number) {
  const slots = createSlots(total);
  const started: EmailLane[] = [];
  const take = (lane: EmailLane, signal = never) => {
    const slot = slots.take(lane, signal);
    if (slot === true) started.push(lane);
    else void slot.then((hasSlot) => hasSlot && started.push(lane));
  };
  const settled = () => new Promise(setImmediate);
  return { slots, started, take, settled };
}

test('marketing and transactional email leave slots to what comes before them', async () => {
  const { slots, started, take, settled } = begin(20);
  for (let count = 0; count < 30; count += 1) take('marketing');
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
  const { slots, started, take, settled } = begin(1);
  for (let count = 0; count < 20; count += 1) take('marketing');
  take('transactional');
  take('authentication');
  slots.release('marketing');
  await settled();
  expect(started.at(-1)).toBe('authentication');
});

test('the last lane moves on while the first ones never end', async () => {
  const { slots, started, take, settled } = begin(1);
  take('authentication');
  take('marketing');
  let running: EmailLane = 'authentication';
  for (let count = 0; count < 10; count += 1) {
    take('authentication');
    take('transactional');
    slots.release(running);
    await settled();
    running = started.at(-1)!;
  }
  expect(started).toContain('marketing');
});

test('whoever gives up waiting takes nothing, and who waits longest in a lane is next in it', async () => {
  const { slots, started, take, settled } = begin(1);
  take('marketing');
  const impatient = new AbortController();
  take('authentication', impatient.signal);
  impatient.abort();
  await settled();
  expect(slots.waiting()).toBe(0);
  slots.release('marketing');
  expect(slots.busy()).toBe(0);
  take('transactional');
  expect(started).toEqual(['marketing', 'transactional']);
});
