import { Worker } from 'node:worker_threads';
import { threadCpuMs } from '../common/thread-cpu.ts';
import { config } from '../config/config.ts';
import { type Batch, marks, marksBytes, marksIn, type ThreadResult } from './protocol.ts';

/** A thread that is busy for this long outside of a job is killed: no customer's work runs there. */
const stuckMs = 5000;
/**
 * Where the system does not report the CPU time of a thread, the thread itself is asked. A thread that does not answer
 * in this time is in a call that cannot be interrupted.
 */
const silentMs = 50;

/** Without the compile cache a thread takes twice as long to start, and 10 MB more for Node's TypeScript parser. */
const keptCode = config.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: config.NODE_COMPILE_CACHE } : {};

export type Loss = {
  cause: 'out of time' | 'out of memory' | 'crash';
  /** The job of the batch in which the thread died, and the part of this job. */
  guilty?: number;
  part: number;
  error?: Error;
};

export type ThreadEvents = {
  ready(): void;
  results(results: ThreadResult[]): void;
  /** The thread takes no more work: it was killed, or ended by itself. */
  lost(loss: Loss): void;
  /** The thread has ended. A killed thread may first finish a call. */
  gone(): void;
};

/** A thread or process of the sandbox. It never keeps the main process alive by itself. */
export type Thread = {
  /** Hands over the next batch, once the results of the last one are there. */
  post(batch: Batch): void;
  /**
   * Kills the thread when it has used more CPU time than `limitMs` in one job. Must be called every `tickMs`. Without
   * a limit the thread has no batch.
   */
  watch(tickMs: number, limitMs: number | undefined): void;
  end(): Promise<void>;
};

const entries = {
  liquid: new URL('./thread.ts', import.meta.url),
  mail: new URL('./mail-thread.ts', import.meta.url),
};

export function startThread(entry: keyof typeof entries, heapMb: number, events: ThreadEvents): Thread {
  const shared = new SharedArrayBuffer(marksBytes);
  const { counts, cpuMs } = marksIn(shared);
  const worker = new Worker(entries[entry], {
    name: 'sandbox',
    workerData: shared,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 16 },
    // The thread gets nothing else of the server: no settings, no flags.
    env: keptCode,
    argv: [],
    execArgv: [],
  });

  let ready = false;
  let killed = false;
  let asking = false;
  let error: NodeJS.ErrnoException | undefined;
  let watched = { begun: -1, at: 0, ms: 0 };
  const begun = () => Atomics.load(counts, marks.begun);
  const inJob = () => begun() !== Atomics.load(counts, marks.ended);

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
    if (!killed) lose(error?.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out of memory' : 'crash');
    events.gone();
  });
  // Called after the listeners are added, because a new listener refs the thread again.
  worker.unref();

  function kill(): void {
    killed = true;
    void worker.terminate();
    lose('out of time');
  }

  function lose(cause: Loss['cause']): void {
    const guilty = inJob() ? { guilty: Atomics.load(counts, marks.job) } : {};
    events.lost({ cause, ...guilty, part: Atomics.load(counts, marks.part), ...(error ? { error } : {}) });
  }

  /**
   * Replaces the elapsed time by the CPU time of the job: on a busy machine the thread may have waited for a processor.
   * Kills the thread if the CPU time is over the limit.
   */
  async function correct(limitMs: number): Promise<void> {
    const job = watched.begun;
    const usedMs = threadCpuMs(Atomics.load(counts, marks.systemId)) ?? (await askedMs(limitMs));
    if (usedMs === undefined || killed || watched.begun !== job) return;
    watched.ms = usedMs - (cpuMs[0] ?? 0);
    if (watched.ms >= limitMs && inJob()) kill();
  }

  /** Asks the thread for its CPU time. A thread in a loop answers; a thread in one long call does not. */
  async function askedMs(limitMs: number): Promise<number | undefined> {
    if (watched.ms >= limitMs + silentMs) kill();
    if (killed || asking) return undefined;
    asking = true;
    // The call rejects when the thread has ended.
    const usage = await worker.cpuUsage().catch(() => undefined);
    asking = false;
    return usage && (usage.user + usage.system) / 1000;
  }

  return {
    post(batch) {
      watched = { begun: -1, at: performance.now(), ms: 0 };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(batch);
    },

    watch(tickMs, limitMs) {
      if (limitMs === undefined || killed) return;
      const now = performance.now();
      // If this process was late, the thread may have had no processor either, so at most one tick counts.
      if (begun() === watched.begun) watched.ms += Math.min(now - watched.at, tickMs);
      else watched = { begun: begun(), at: now, ms: 0 };
      watched.at = now;
      if (!inJob()) {
        if (watched.ms >= stuckMs) kill();
      } else if (watched.ms >= limitMs) void correct(limitMs);
    },

    async end() {
      killed = true;
      await worker.terminate();
    },
  };
}
