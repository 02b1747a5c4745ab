import { expect, test } from 'vitest';
import { batcher, batcherByLane } from '../../shared/common/batcher.ts';

type Item = { lane: string; name: string };

/** Batches that have begun, each of which ends when the test says so. */
function heldBatches() {
  const begun: { names: string[]; end: () => void }[] = [];
  const run = (items: Item[]) =>
    new Promise<string[]>((resolve) => {
      const names = items.map(({ name }) => name);
      begun.push({ names, end: () => resolve(names) });
    });
  return { begun, run };
}
const item = (name: string, lane = 'bulk') => ({ lane, name });
const named = (begun: { names: string[] }[]) => begun.map(({ names }) => names);
/** Batches begin before the next but one turn of the event loop. */
const nextTurns = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('calls of one moment share a batch, and the next ones gather while it is on its way', async () => {
  const { begun, run } = heldBatches();
  const call = batcher({ maxItems: 2, maxInFlight: 1, run });
  const results = ['a', 'b', 'c', 'd'].map((name) => call(item(name)));
  await nextTurns();
  expect(named(begun)).toEqual([['a', 'b']]);
  begun[0]!.end();
  expect(await Promise.all(results.slice(0, 2))).toEqual(['a', 'b']);
  await nextTurns();
  expect(named(begun)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  begun[1]!.end();
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
});

test('a call of another lane waits for no batch of this one, and shares none', async () => {
  const { begun, run } = heldBatches();
  const call = batcherByLane<Item, string>({
    maxItems: 10,
    maxInFlight: 1,
    run,
    laneOf: ({ lane }) => lane,
  });
  const bulk = [call(item('a')), call(item('b'))];
  await nextTurns();
  const [late, single] = [call(item('c')), call(item('d', 'urgent'))];
  await nextTurns();
  expect(named(begun)).toEqual([['a', 'b'], ['d']]);
  begun[1]!.end();
  expect(await single).toBe('d');
  begun[0]!.end();
  expect(await Promise.all(bulk)).toEqual(['a', 'b']);
  await nextTurns();
  expect(named(begun)).toEqual([['a', 'b'], ['d'], ['c']]);
  begun[2]!.end();
  expect(await late).toBe('c');
});

test('a batch that fails fails each of its calls, and the next batch goes on', async () => {
  let runs = 0;
  const call = batcher<Item, string>({
    maxItems: 2,
    maxInFlight: 1,
    run: async (items) => {
      runs += 1;
      if (runs === 1) throw new Error('no answer');
      return items.map(({ name }) => name);
    },
  });
  const ends = await Promise.allSettled(['a', 'b', 'c'].map((name) => call(item(name))));
  expect(ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason)))).toEqual([
    'Error: no answer',
    'Error: no answer',
    'c',
  ]);
});
