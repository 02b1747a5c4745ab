import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { systemThreadId, threadCpuMs } from '../../shared/common/thread-cpu.ts';
import { marks, marksBytes, marksIn } from '../../shared/sandbox/protocol.ts';
import { waitFor } from '../support/time/wait-for.ts';

const program = new URL('../../shared/common/thread-cpu.ts', import.meta.url);

function start(work: string) {
  const shared = new SharedArrayBuffer(marksBytes);
  const { counts } = marksIn(shared);
  const source = `
    const { workerData } = require('node:worker_threads');
    import(${JSON.stringify(program.href)}).then(({ systemThreadId }) => {
      const counts = new Int32Array(workerData, 8);
      Atomics.store(counts, ${marks.systemId}, systemThreadId());
      ${work}
    });`;
  const worker = new Worker(source, { eval: true, workerData: shared });
  return { worker, usedMs: () => threadCpuMs(Atomics.load(counts, marks.systemId)) };
}

test('a thread that works is known from one that waits, though neither says so', async () => {
  // Only Linux counts CPU time for each thread in this way.
  if (process.platform !== 'linux') return expect(systemThreadId()).toBe(0);
  const working = start(`'x'.repeat(60).match(/^(x+x+)+y$/);`);
  const waiting = start('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
  try {
    await waitFor(
      'both have started',
      () => working.usedMs() !== undefined && waiting.usedMs() !== undefined,
    );
    const [workedMs, waitedMs] = [working.usedMs()!, waiting.usedMs()!];
    await waitFor('one has worked on', () => working.usedMs()! > workedMs + 500);
    expect(waiting.usedMs()! - waitedMs).toBeLessThan(250);
  } finally {
    await Promise.all([working, waiting].map(({ worker }) => worker.terminate()));
  }
});

test('of no thread, or one that has ended, nothing is said', async () => {
  expect(threadCpuMs(0)).toBeUndefined();
  const { worker, usedMs } = start('');
  await new Promise((resolve) => worker.once('exit', resolve));
  await waitFor('the system has forgotten the thread', () => usedMs() === undefined);
});
