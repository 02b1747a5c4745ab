import { Worker } from 'node:worker_threads';
import type { Job } from './queue.ts';
import { type Batch, marks, type Run, runs, type ThreadResult } from './protocol.ts';

/**
 * V8 ends the whole process where a thread overshoots this at one go, so the limits of formats/liquid keep a render
 * far below it; the rest is room for data, parsed templates and garbage.
 */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
/** Outside of a job there is nothing of a customer's to wait for. */
const stuckMs = 5000;

type Events = {
  ready(): void;
  results(results: ThreadResult[]): void;
  /** `blamed`: the job that the thread died of, if it was in one. */
  exit(how: { ready: boolean; outOfMemory: boolean; killed: boolean; error?: Error }): void;
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
  worker.unref();

  let ready = false;
  let killed = false;
  let error: Error | undefined;
  let batch: { run: Run; jobs: Job[]; answered: number; firstMark: number } | undefined;
  let watched = { begun: -1, at: 0, ms: 0 };
  const begun = () => Atomics.load(mark, marks.begun);
  const inJob = () => begun() > Atomics.load(mark, marks.ended);

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
    const outOfMemory = (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    events.exit({ ready, outOfMemory, killed, ...(error ? { error } : {}) });
  });

  return {
    get isIdle() {
      return ready && !killed && batch === undefined;
    },
    get run() {
      return batch?.run;
    },

    post(run: Run, jobs: Job[]): void {
      batch = { run, jobs, answered: 0, firstMark: begun() };
      watched = { begun: -1, at: performance.now(), ms: 0 };
      worker.postMessage({ run, jobs: jobs.map(({ message }) => message) } satisfies Batch);
    },

    /** The job that a result is for. */
    next(): Job | undefined {
      return batch?.jobs[batch.answered++];
    },

    /** The workspace's batch if all of it is answered; the thread is then free. */
    takeFinished(): Job[] | undefined {
      if (!batch || batch.answered < batch.jobs.length) return undefined;
      const { jobs } = batch;
      batch = undefined;
      return jobs;
    },

    /** What a dead thread leaves behind: the job it died in, and the others without an answer. */
    takeUnanswered(): { guilty: Job | undefined; part: number; innocent: Job[] } {
      const { jobs = [], answered = 0, firstMark = 0 } = batch ?? {};
      batch = undefined;
      const guilty = inJob() ? jobs[begun() - firstMark - 1] : undefined;
      const innocent = jobs.slice(answered).filter((job) => job !== guilty);
      return { guilty, part: Atomics.load(mark, marks.part), innocent };
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
