import { expect, test } from 'vitest';
import { aheadMs, newId, timeOfId } from '../../shared/formats/ids.ts';

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
