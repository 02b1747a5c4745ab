import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runQueue } from '../../../api/run-queue.ts';

test('a turn begins tasks for ten milliseconds, oldest first; the next turn goes on with the rest', async () => {
  let milliseconds = 0;
  const queue = runQueue(() => milliseconds);
  const done: number[] = [];
  const task = (number: number) => () => {
    done.push(number);
    milliseconds += 4;
  };
  for (let number = 1; number <= 7; number += 1) queue.add(task(number));
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual([1, 2, 3]);
  queue.add(task(8));
  await nextTurn();
  expect(done).toEqual([1, 2, 3, 4, 5, 6]);
  await nextTurn();
  expect(done).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('a task that is added by a task has its turn after those that wait, and is run once', async () => {
  let milliseconds = 0;
  const queue = runQueue(() => milliseconds);
  const done: string[] = [];
  queue.add(() => {
    done.push('first');
    queue.add(() => done.push('added'));
    milliseconds += 10;
  });
  queue.add(() => done.push('second'));
  await nextTurn();
  expect(done).toEqual(['first']);
  await nextTurn();
  expect(done).toEqual(['first', 'second', 'added']);
  queue.add(() => done.push('later'));
  for (let turns = 0; turns < 3; turns += 1) await nextTurn();
  expect(done).toEqual(['first', 'second', 'added', 'later']);
});
