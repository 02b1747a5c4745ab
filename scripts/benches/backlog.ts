import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from './program.ts';
import { openWindow, type Window } from './usage.ts';

/** A backlog of work for a worker. */
export interface Backlog {
  start: () => Promise<Program>;
  /** Makes the worker ignore all work that is loaded from now on. */
  hold: () => Promise<void>;
  load: (first: number, count: number) => Promise<void>;
  release: () => Promise<void>;
  /** Resolves when all of `total` has been done since the start, with its results on disk. */
  finished: (total: number) => Promise<void>;
}

const settleMs = 500;

/**
 * Starts a fresh worker, warms it up on a part of the work, and measures the time for the rest: from the moment that
 * it may begin to the last result on disk.
 */
export async function drain(
  { start, hold, load, release, finished }: Backlog,
  { warm, count, others }: { warm: number; count: number; others: Record<string, number> },
): Promise<Window> {
  const worker = await start();
  await hold();
  await load(0, warm);
  await release();
  await finished(warm);
  await hold();
  await load(warm, count);
  await delay(settleMs);
  const close = openWindow({ worker: worker.pid, bench: process.pid, ...others });
  await release();
  await finished(warm + count);
  const window = close();
  await worker.stop();
  return window;
}
