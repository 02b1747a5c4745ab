import { randomBytes } from 'node:crypto';
import { fromUUIDBytes } from 'typeid-js';
import { expect, test } from 'vitest';
import { aheadMs, idFromBytes, idToBytes, newId, timeOfId } from '../../shared/formats/ids.ts';

const time = Date.UTC(2026, 5, 1);
const idAt = (ms: number) => newId('contact', new Date(ms));

test('ids rise within a millisecond, and where the clock steps back a little', () => {
  const ids = [time, time, time - aheadMs, time - 1, time].map(idAt);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
});

test('where the clock was wrong before, an id has its own time and none ahead of it', () => {
  idAt(time);
  const before = time - aheadMs - 1;
  expect(timeOfId(idAt(before)).getTime()).toBe(before);
});

test('the form of an id is that of TypeID: another library writes the same', () => {
  const oneBit = Array.from({ length: 128 }, (_, bit) => {
    const bytes = Buffer.alloc(16);
    bytes[bit >> 3] = 1 << (bit & 7);
    return bytes;
  });
  const random = Array.from({ length: 1_000 }, () => randomBytes(16));
  for (const bytes of [...oneBit, ...random, Buffer.alloc(16, 255)]) {
    const id = idFromBytes('event', bytes);
    expect(id).toBe(fromUUIDBytes('event', bytes));
    expect(idToBytes(id)).toEqual(bytes);
  }
});

test('what is not the base32 of 16 bytes has no bytes', () => {
  const id = newId('event', new Date(time));
  const [, suffix] = id.split('_') as [string, string];
  const changed = [...suffix].flatMap((_, at) =>
    ['u', 'A', '~', '\u0100', ' '].map((other) => suffix.slice(0, at) + other + suffix.slice(at + 1)),
  );
  for (const wrong of [...changed, suffix.slice(1), `${suffix}0`, `8${suffix.slice(1)}`, ''])
    expect(() => idToBytes(`event_${wrong}`), wrong).toThrow('base32');
});
