import { Worker } from 'node:worker_threads';
import { type Batch, marks, type Run, runs, type ThreadResult } from './protocol.ts';
import type { Job, Workspace } from './queue.ts';

/**
 * V8 ends the whole process where a thread overshoots this at one go, so the limits of formats/liquid keep a render
 * far below it; the rest is room for data, parsed templates and garbage.
 */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
/** Outside of a job there is nothing of a customer's to wait for. */
const stuckMs = 5000;

export type Exit = {
  /** It had started properly. */
  ready: boolean;
  cause: 'out of time' | 'out of memory' | 'crash';
  error?: Error;
};

type Events = {
  ready(): void;
  results(results: ThreadResult[]): void;
  exit(how: Exit): void;
};

export type Thread = ReturnType<typeof startThread>;

/** A thread of the cage. It never keeps the process alive by itself. */
export function startThread(events: Events) {
  const shared = new SharedArrayBuffer(marks.length * Int32Array.BYTES_PER_ELEMENT);
  const mark = new Int32Array(shared);
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    name: 'cage',
    workerData: shared,
    resourceLimits,
    // Nothing of the server's: no settings, no flags.
    env: {},
    argv: [],
    execArgv: [],
  });

  let ready = false;
  let killed = false;
  let error: NodeJS.ErrnoException | undefined;
  let batch: { run: Run; jobs: Job[]; answered: number; firstMark: number } | undefined;
  let watched = { begun: -1, at: 0, ms: 0 };
  const begun = () => Atomics.load(mark, marks.begun);
  const inJob = () => begun() !== Atomics.load(mark, marks.ended);

  worker.on('message', (results: ThreadResult[]) => {
    if (ready) events.results(results);
    else {
      ready = true;
      events.ready();
    }
  });
  worker.on('error', (reason: Error) => {
    error = reason;
  });
  worker.on('exit', () => {
    const outOfMemory = error?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    const cause = outOfMemory ? 'out of memory' : killed ? 'out of time' : 'crash';
    events.exit({ ready, cause, ...(error ? { error } : {}) });
  });
  // After the listeners: a new one refs the thread again.
  worker.unref();

  return {
    get isIdle() {
      return ready && !killed && batch === undefined;
    },
    /** Undefined also while a killed thread is on its way out: its place is free at once. */
    get run() {
      return killed ? undefined : batch?.run;
    },

    post(run: Run, jobs: Job[]): void {
      batch = { run, jobs, answered: 0, firstMark: begun() };
      watched = { begun: -1, at: performance.now(), ms: 0 };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ run, jobs: jobs.map(({ message }) => message) } satisfies Batch);
    },

    /** The job that a result is for. */
    next(): Job | undefined {
      return batch?.jobs[batch.answered++];
    },

    /** The workspace whose batch is now answered, if it is; the thread is then free. */
    takeFinished(): Workspace | undefined {
      if (!batch || batch.answered < batch.jobs.length) return undefined;
      const [job] = batch.jobs;
      batch = undefined;
      return job?.workspace;
    },

    /** What a dead thread leaves behind: the job it died in, and the others without an answer. */
    takeUnanswered(): { run: Run; guilty?: Job; part: number; innocent: Job[] } | undefined {
      if (!batch) return undefined;
      const { run, jobs, answered, firstMark } = batch;
      batch = undefined;
      const guilty = inJob() ? jobs[begun() - firstMark - 1] : undefined;
      const innocent = jobs.slice(answered).filter((job) => job !== guilty);
      return { run, ...(guilty ? { guilty } : {}), part: Atomics.load(mark, marks.part), innocent };
    },

    /**
     * Kills the thread when it has been in one job for too long. Time in which this process could not look counts as
     * one tick, since then the thread may have had no processor either.
     */
    watch(tickMs: number): void {
      if (!batch || killed) return;
      const now = performance.now();
      if (begun() === watched.begun) watched.ms += Math.min(now - watched.at, 2 * tickMs);
      else watched = { begun: begun(), at: now, ms: 0 };
      watched.at = now;
      if (watched.ms < (inJob() ? runs[batch.run].kill : stuckMs)) return;
      killed = true;
      void worker.terminate();
    },

    async end(): Promise<void> {
      killed = true;
      await worker.terminate();
    },
  };
}
