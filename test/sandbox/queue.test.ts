import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openQueue, type Queue, type SandboxJob } from '../../shared/sandbox/queue.ts';

let queue: Queue;
let refused: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'], now: 1_000_000 });
  queue = openQueue();
  refused = [];
});
afterEach(() => vi.useRealTimers());

/** Adds a render of `source`, by default of a source that is known to be quick. */
function add(workspaceId: string, source = 'known', length = 10): SandboxJob {
  const job: SandboxJob = {
    workspace: queue.workspace(workspaceId),
    source,
    message: { kind: 'liquid', parts: [], data: '{}', now: 0 },
    length,
    arrivedAt: performance.now(),
    needsFullRun: false,
    finish() {},
    abandon() {},
  };
  if (!queue.add(job)) refused.push(workspaceId);
  return job;
}

function know(source = 'known', milliseconds = 1): void {
  const job = add('teacher', source);
  queue.take(true);
  queue.release(job.workspace);
  queue.learn(job, milliseconds);
}

const taken = (mayRunFull = true) => {
  const batch = queue.take(mayRunFull);
  return batch && [batch.jobs[0]!.workspace.id, batch.run, batch.jobs.length];
};

test('a workspace holds one thread at a time', () => {
  const first = add('a', 'one');
  add('a', 'two');
  add('b', 'one');
  expect(taken()).toEqual(['a', 'full', 1]);
  expect(taken()).toEqual(['b', 'full', 1]);
  expect(taken()).toBeUndefined();
  queue.release(first.workspace);
  expect(taken()).toEqual(['a', 'full', 1]);
});

test('sources known to be quick share a batch of 16 at most, one of another kind ends it', () => {
  know();
  for (let index = 0; index < 20; index += 1) add('many');
  expect(taken()).toEqual(['many', 'short', 10]);
  expect(queue.length).toBe(10);
});

test('rows are a batch by themselves, however quick they are known to be', () => {
  know('known', 0.1);
  add('rows').message = { kind: 'rows', sources: [], shared: '{}', rows: [], now: 0 };
  const second = add('rows');
  add('rows').message = { kind: 'rows', sources: [], shared: '{}', rows: [], now: 0 };
  expect(taken()).toEqual(['rows', 'short', 1]);
  queue.release(second.workspace);
  expect(taken()).toEqual(['rows', 'short', 1]);
  queue.release(second.workspace);
  expect(taken()).toEqual(['rows', 'short', 1]);
});

test('a batch of renders that take no time is of 16', () => {
  know('known', 0.1);
  for (let index = 0; index < 20; index += 1) add('many');
  expect(taken()).toEqual(['many', 'short', 16]);
});

test('a source never seen before runs alone', () => {
  know('known', 0);
  const first = add('a');
  add('a', 'new');
  add('a');
  expect(taken()).toEqual(['a', 'short', 1]);
  queue.release(first.workspace);
  expect(taken()).toEqual(['a', 'full', 1]);
  expect(queue.length).toBe(1);
});

test('where full runs may take no further thread, known sources come first and new ones get a short run', () => {
  know();
  add('new', 'new');
  vi.advanceTimersByTime(5);
  add('known');
  expect(taken(false)).toEqual(['known', 'short', 1]);
  expect(taken(false)).toEqual(['new', 'short', 1]);
});

test('what a short run was not enough for waits for a full one', () => {
  const job = add('a', 'slow');
  expect(taken(false)).toEqual(['a', 'short', 1]);
  job.needsFullRun = true;
  queue.putBack([job], 'first');
  queue.release(job.workspace);
  expect(taken(false)).toBeUndefined();
  expect(taken(true)).toEqual(['a', 'full', 1]);
});

test('a suspect workspace gets no short runs for 30 s, even for a source that is known', () => {
  know();
  const job = add('a', 'bomb');
  queue.take(true);
  queue.suspect(job);
  queue.release(job.workspace);
  add('a');
  expect(taken(false)).toBeUndefined();
  vi.advanceTimersByTime(31_000);
  expect(taken(false)).toEqual(['a', 'short', 1]);
});

test('a workspace that took long waits while others that took little go first', () => {
  const slow = add('slow', 'x');
  queue.take(true);
  queue.charge(slow.workspace, 250);
  queue.release(slow.workspace);
  add('slow', 'y');
  for (let index = 0; index < 10; index += 1) {
    vi.advanceTimersByTime(100);
    const quick = add('quick', `q${index}`);
    expect(taken()).toEqual(['quick', 'full', 1]);
    queue.charge(quick.workspace, 1);
    queue.release(quick.workspace);
  }
  // No other workspace waits, so the slow one need not wait either.
  expect(taken()).toEqual(['slow', 'full', 1]);
});

test('a workspace that took long has its turn in the end, however many others there are', () => {
  const slow = add('slow', 'x');
  queue.take(true);
  queue.charge(slow.workspace, 250);
  queue.release(slow.workspace);
  add('slow', 'y');
  vi.advanceTimersByTime(5100);
  add('late', 'z');
  expect(taken()).toEqual(['slow', 'full', 1]);
});

test('more than 1,000 renders of a workspace, or 32 MB of them, are refused', () => {
  for (let index = 0; index < 1002; index += 1) add('many');
  expect(refused).toEqual(['many', 'many']);
  for (let index = 0; index < 40; index += 1) add('large', 'known', 1_000_000);
  expect(refused.filter((id) => id === 'large')).toHaveLength(8);
  add('other');
  expect(refused).not.toContain('other');
});

test('what has waited for 10 s is given up', () => {
  add('a', 'old');
  vi.advanceTimersByTime(6000);
  add('a', 'younger');
  add('b', 'younger');
  vi.advanceTimersByTime(4500);
  expect(queue.takeStale().map((job) => job.source)).toEqual(['old']);
  expect(queue.length).toBe(2);
  expect(queue.takeStale()).toEqual([]);
});
