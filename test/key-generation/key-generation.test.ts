import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { closeOpened } from '../../shared/common/closing.ts';
import { generateInTurn } from '../../shared/key-generation/key-generation.ts';
import { waitFor } from '../support/time/wait-for.ts';

afterAll(closeOpened);

/** Asks for `count` keys; each finished key adds its workspace to `made`. */
function ask(made: string[], workspaceId: string, count: number): Promise<unknown>[] {
  return Array.from({ length: count }, () => generateInTurn(workspaceId).then(() => made.push(workspaceId)));
}

/** Stops the generation, so that keys which are not made yet are refused. */
async function giveUp(keys: Promise<unknown>[]): Promise<void> {
  await Promise.all([Promise.allSettled(keys), closeOpened()]);
}

/** Returns the threads of this process that have a low priority. */
function lowThreads(): string[] {
  return readdirSync('/proc/self/task').filter((id) => {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) > 0;
  });
}

// Shows A64
test('turns go round by workspace, however many keys one of them asks for', async () => {
  const made: string[] = [];
  const all = [...ask(made, 'greedy', 10), ...ask(made, 'b', 2), ...ask(made, 'c', 1)];
  await Promise.all(all.slice(10));
  // One key was being made and one waited before the other workspaces asked.
  expect(made).toEqual(['greedy', 'greedy', 'b', 'c', 'greedy', 'b']);
  await giveUp(all);
});

test('a workspace that has ten under way is refused, with a time to come again, and another is not', async () => {
  const all = ask([], 'greedy', 10);
  await expect(generateInTurn('greedy')).rejects.toMatchObject({
    code: 'rate_limited',
    options: { retryAfterSeconds: 3 },
  });
  await generateInTurn('other');
  await giveUp(all);
  await generateInTurn('greedy');
});

test('a hundred at most wait, of all workspaces together', async () => {
  const all = Array.from({ length: 11 }, (_, index) => ask([], `w${index}`, 10)).flat();
  const outcomes = Promise.allSettled(all);
  const refused = all.slice(101);
  expect(refused).toHaveLength(9);
  // The first key is already being made, so it is not among the refused ones.
  for (const outcome of await Promise.allSettled(refused))
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { code: 'service_unavailable', options: { retryAfterSeconds: 3 } },
    });
  await closeOpened();
  const words = (await outcomes).flatMap((outcome) =>
    outcome.status === 'rejected' ? [(outcome.reason as Error).message] : [],
  );
  expect(words.filter((message) => message.includes('Too many keys'))).toHaveLength(9);
  expect(words.filter((message) => message.includes('could not be made')).length).toBeGreaterThan(90);
});

/** Reads fifty files from beginning to end. */
const readFiles = () => Promise.all(Array.from({ length: 50 }, () => readFile(import.meta.filename)));

// Shows A64
test('while keys are made, files and whatever else needs a thread of the pool wait for none of them', async () => {
  const made: string[] = [];
  const all = ask(made, 'greedy', 10);
  await readFiles();
  expect(made.length).toBeLessThanOrEqual(2);
  await giveUp(all);
});

test('the thread that makes them has a low priority, and the others keep theirs', async () => {
  const before = lowThreads();
  const all = ask([], 'w', 1);
  await waitFor('a thread has a low priority', () => lowThreads().length > 0);
  expect(lowThreads()).toHaveLength(1);
  expect(before.length).toBeLessThanOrEqual(1);
  await Promise.all(all);
});

test('a key that is owed when the process closes is refused, and one that is asked for later is made', async () => {
  const owed = ask([], 'w', 1);
  const [outcome] = await Promise.all([Promise.allSettled(owed), closeOpened()]);
  expect(outcome).toMatchObject([{ status: 'rejected', reason: { code: 'service_unavailable' } }]);
  expect(await generateInTurn('w')).toMatchObject({
    publicKeyTxt: expect.stringMatching(/^v=DKIM1; k=rsa; p=/),
  });
});
