import { expect, test } from 'vitest';
import { batcher, batcherByLane } from '../../shared/common/batcher.ts';
import { waitFor } from '../support/time/wait-for.ts';

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

test('beside a batch in flight the next one begins when it is full', async () => {
  const { begun, run } = heldBatches();
  const call = batcher({ maxItems: 2, maxInFlight: 2, gatherMs: 600_000, run });
  const results = [call(item('a'))];
  await nextTurns();
  results.push(call(item('b')));
  await nextTurns();
  expect(named(begun)).toEqual([['a']]);
  results.push(call(item('c')));
  await nextTurns();
  expect(named(begun)).toEqual([['a'], ['b', 'c']]);
  for (const { end } of begun) end();
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
});

test('beside a batch in flight that does not end, the next one begins when it has gathered', async () => {
  const { begun, run } = heldBatches();
  const call = batcher({ maxItems: 100, maxInFlight: 2, gatherMs: 20, run });
  const stuck = call(item('a'));
  await nextTurns();
  const others = [call(item('b')), call(item('c'))];
  await waitFor('the second batch', () => begun.length === 2);
  expect(named(begun)).toEqual([['a'], ['b', 'c']]);
  begun[1]!.end();
  expect(await Promise.all(others)).toEqual(['b', 'c']);
  begun[0]!.end();
  expect(await stuck).toBe('a');
});

test('calls beyond a full batch do not wait for its end', async () => {
  const { begun, run } = heldBatches();
  const call = batcher({ maxItems: 2, maxInFlight: 2, gatherMs: 20, run });
  const results = ['a', 'b', 'c'].map((name) => call(item(name)));
  await waitFor('the second batch', () => begun.length === 2);
  expect(named(begun)).toEqual([['a', 'b'], ['c']]);
  for (const { end } of begun) end();
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
});

test('a call that gathers begins when the batch before it ends', async () => {
  const { begun, run } = heldBatches();
  const call = batcher({ maxItems: 100, maxInFlight: 2, gatherMs: 600_000, run });
  const first = call(item('a'));
  await nextTurns();
  const second = call(item('b'));
  await nextTurns();
  expect(named(begun)).toEqual([['a']]);
  begun[0]!.end();
  await waitFor('the second batch', () => begun.length === 2);
  begun[1]!.end();
  expect(await Promise.all([first, second])).toEqual(['a', 'b']);
});

test('with a rest the next batch begins no sooner, even if nothing is in flight, unless it is full', async () => {
  const { begun, run } = heldBatches();
  const call = batcher({ maxItems: 2, maxInFlight: 1, restMs: 600_000, run });
  const first = call(item('a'));
  await nextTurns();
  begun[0]!.end();
  expect(await first).toBe('a');
  const second = call(item('b'));
  await nextTurns();
  expect(named(begun)).toEqual([['a']]);
  const third = call(item('c'));
  await nextTurns();
  expect(named(begun)).toEqual([['a'], ['b', 'c']]);
  begun[1]!.end();
  expect(await Promise.all([second, third])).toEqual(['b', 'c']);
});

test('when the rest is over, the next batch begins by itself', async () => {
  const begunAt: number[] = [];
  const call = batcher<Item, string>({
    maxItems: 100,
    maxInFlight: 1,
    restMs: 20,
    run: async (items) => {
      begunAt.push(performance.now());
      return items.map(({ name }) => name);
    },
  });
  expect(await call(item('a'))).toBe('a');
  expect(await call(item('b'))).toBe('b');
  expect(begunAt[1]! - begunAt[0]!).toBeGreaterThan(19);
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
