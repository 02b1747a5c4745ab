import { expect, test } from 'vitest';
import { type Semaphore, semaphore } from '../../shared/common/semaphore.ts';

type Limits = { inAll: number; permits: number; waitMs?: number };
const turnsOf = ({ inAll, permits, waitMs = 30_000 }: Limits) =>
  semaphore({ inAll: () => inAll, permits: () => permits, waitMs });

/** Makes turns that last until the test ends them, and records the owners who got one, in order. */
function watch(turns: Semaphore) {
  const got: string[] = [];
  const held: { owner: string; end: () => void }[] = [];
  const ask = (owner: string) =>
    turns.run(
      owner,
      () => new Error(`no turn for ${owner}`),
      async () => {
        got.push(owner);
        const { promise, resolve } = Promise.withResolvers<void>();
        held.push({ owner, end: resolve });
        await promise;
      },
    );
  /** Ends the running turns of this owner, or of all owners. */
  async function end(owner?: string): Promise<void> {
    await new Promise(setImmediate);
    for (const turn of held.splice(0))
      if (owner === undefined || turn.owner === owner) turn.end();
      else held.push(turn);
    await new Promise(setImmediate);
  }
  return { got, ask, end };
}

test('turns go round by owner, whoever asked for how many', async () => {
  const { got, ask, end } = watch(turnsOf({ inAll: 1, permits: 1 }));
  const asked = [...Array(5).fill('many'), 'one', 'two', 'two'].map(ask);
  for (let count = 0; count < asked.length; count += 1) await end();
  await Promise.all(asked);
  expect(got).toEqual(['many', 'one', 'two', 'many', 'two', 'many', 'many', 'many']);
});

test('whoever comes while another has its turn is next, however many more of that one wait', async () => {
  const { got, ask, end } = watch(turnsOf({ inAll: 1, permits: 1 }));
  const asked = Array.from({ length: 50 }, () => ask('many'));
  await end();
  asked.push(ask('late'));
  await end();
  expect(got).toEqual(['many', 'many', 'late']);
  for (let count = 0; count < 50; count += 1) await end();
  await Promise.all(asked);
});

test('an owner that comes again and again holds up nobody who waits', async () => {
  const { got, ask, end } = watch(turnsOf({ inAll: 1, permits: 1 }));
  const asked = [ask('a'), ask('b'), ask('a'), ask('b')];
  for (let count = 0; count < 6; count += 1) {
    await end();
    asked.push(ask('new'));
  }
  while (got.length < asked.length) await end();
  await end();
  await Promise.all(asked);
  expect(got.slice(0, 6).filter((owner) => owner === 'b')).toHaveLength(2);
});

test('no more run at once than may, of an owner and in all', async () => {
  const { got, ask, end } = watch(turnsOf({ inAll: 3, permits: 2 }));
  const asked = [...Array(4).fill('a'), ...Array(4).fill('b')].map(ask);
  await new Promise(setImmediate);
  expect(got).toEqual(['a', 'a', 'b']);
  await end('b');
  expect(got).toEqual(['a', 'a', 'b', 'b']);
  await end('a');
  expect(got.slice(4)).toEqual(['b', 'a']);
  for (let count = 0; count < 4; count += 1) await end();
  await Promise.all(asked);
  expect(got.toSorted().join('')).toBe('aaaabbbb');
});

test('a turn that fails is over like any other', async () => {
  const turns = turnsOf({ inAll: 1, permits: 1 });
  const refusal = () => new Error('no turn');
  const failing = turns.run('a', refusal, async () => {
    throw new Error('It failed');
  });
  await expect(failing).rejects.toThrow('It failed');
  expect(await turns.run('a', refusal, async () => 'done')).toBe('done');
});

test('who does not get a turn in time is told so, does nothing, and holds up nobody', async () => {
  const turns = turnsOf({ inAll: 1, permits: 1, waitMs: 20 });
  const patient = watch(turns);
  const first = patient.ask('a');
  const impatient = watch(turns);
  await expect(impatient.ask('a')).rejects.toThrow('no turn for a');
  await expect(impatient.ask('b')).rejects.toThrow('no turn for b');
  await patient.end();
  const second = patient.ask('b');
  await patient.end();
  await Promise.all([first, second]);
  expect([patient.got, impatient.got]).toEqual([['a', 'b'], []]);
});
