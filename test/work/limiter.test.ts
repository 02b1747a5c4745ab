import { expect, test } from 'vitest';
import { laneSlots } from '../../shared/work/turns.ts';

/** Opens the slots of a lane; a test releases a slot by the name of its holder. */
function openGate(slots: () => number, waitMs = 60_000) {
  const { acquire } = laneSlots(slots, waitMs);
  const held: { name: string; release: () => void }[] = [];
  return {
    enter: async (name: string) => {
      const release = await acquire(name);
      if (release) held.push({ name, release });
      return release !== null;
    },
    leave: (name: string) => {
      const at = held.findIndex((one) => one.name === name);
      held.splice(at, 1)[0]!.release();
    },
  };
}
const gateOf = (slots: number, waitMs?: number) => openGate(() => slots, waitMs);
const isOpen = async (entering: Promise<boolean>) =>
  Promise.race([entering, new Promise<null>((resolve) => setImmediate(() => resolve(null)))]);

test('one workspace takes up to five sixths of the slots, and another comes in beside it', async () => {
  const gate = gateOf(8);
  const entered = await Promise.all(Array.from({ length: 6 }, () => gate.enter('one')));
  expect(entered).toEqual(Array(6).fill(true));
  const seventh = gate.enter('one');
  expect(await isOpen(seventh)).toBeNull();
  expect(await isOpen(gate.enter('other'))).toBe(true);
  gate.leave('other');
  expect(await isOpen(seventh)).toBeNull();
  gate.leave('one');
  expect(await seventh).toBe(true);
});

test('a workspace has a share of what the others leave, so two that end nothing leave room for a third', async () => {
  const gate = gateOf(8);
  for (const name of ['one', 'two']) for (let index = 0; index < 20; index += 1) void gate.enter(name);
  expect(await isOpen(gate.enter('three'))).toBe(true);
});

test('who waits in vain is sent away, and takes no slot', async () => {
  const gate = gateOf(1, 10);
  expect(await gate.enter('one')).toBe(true);
  expect(await gate.enter('one')).toBe(false);
  gate.leave('one');
  expect(await gate.enter('one')).toBe(true);
});

test('no more are in progress than there are slots, and fewer from the moment that there are fewer', async () => {
  let slots = 4;
  const gate = openGate(() => slots);
  const names = ['one', 'two', 'three', 'four'];
  for (const name of names) expect(await gate.enter(name)).toBe(true);
  const fifth = gate.enter('five');
  expect(await isOpen(fifth)).toBeNull();
  slots = 2;
  gate.leave('one');
  gate.leave('two');
  expect(await isOpen(fifth)).toBeNull();
  gate.leave('three');
  expect(await fifth).toBe(true);
});
