import { closeAtEnd } from '../common/closing.ts';
import { count } from '../common/metrics.ts';
import type { Run, ThreadJob, ThreadResult } from './protocol.ts';
import { openQueue, type SandboxJob, type SandboxOutcome } from './queue.ts';
import type { Loss, Thread, ThreadEvents } from './thread-handle.ts';

const tickMs = 10;
const failedStartsInARow = 3;
/**
 * While more killed threads than this are still in a call, no new thread starts: a killed thread uses processor time
 * until its call ends.
 */
const mostDying = 2;

export type Work = { workspaceId: string; source: string; message: ThreadJob; length: number };
export type Pool = ReturnType<typeof openPoolOf>;
type PoolStats = ReturnType<Pool['stats']>;

/** A thread that takes jobs, and the batch that it works on. */
type PoolMember = {
  thread: Thread;
  isReady: boolean;
  batch: { run: Run; jobs: SandboxJob[]; answered: number } | undefined;
};

/** The purpose of a pool's threads. */
export type PoolProgram = {
  /** The name in the metrics. */
  name: 'liquid' | 'mjml' | 'mail';
  start(events: ThreadEvents): Thread;
  /**
   * Warm threads beyond the needed ones. After the first kill they may exceed the full number, so that one replaces a
   * killed thread at once. Most processes never kill a thread, and need no memory for this.
   */
  spares: number;
  /** The longest that a job waits for its turn. */
  waitMs: number;
  /** The CPU time in one job after which its thread is killed. */
  runs: Record<Run, { kill: number }>;
  /** The message about a job that ended its thread. */
  words: Record<Loss['cause'], string>;
};

/**
 * Returns how many renders a job had, where each row counts as one. The queue learns from this how long one render of
 * each source takes.
 */
const rendersOf = ({ message }: SandboxJob, outputs: string[]) =>
  message.kind === 'rows' ? Math.max(1, outputs.length) : 1;

/**
 * Opens a pool of at most `size` working threads, which are started when first needed. If there are two or more, full
 * runs leave one thread free for short runs.
 */
export function openPoolOf(size: number, program: PoolProgram) {
  const queue = openQueue(program.waitMs);
  const members = new Set<PoolMember>();
  const dying = new Set<PoolMember>();
  const pending = new Set<SandboxJob>();
  const counts = { rendered: 0, failed: 0, busy: 0, killed: 0 };
  let timer: NodeJS.Timeout | undefined;
  let isStarting = false;
  let failedStarts = 0;
  let closed = false;

  // Starts one thread at a time: several starts at once, or a start during the first render, slow each other down.
  function startThreads(): void {
    const most = counts.killed > 0 ? size + program.spares : size;
    const wanted = Math.min(most, pending.size + program.spares);
    if (closed || isStarting || members.size >= wanted || dying.size > mostDying) return;
    // After a failed start, only a new render is a reason to try again.
    if (failedStarts > 0 && pending.size === 0) return;
    isStarting = true;
    const thread = program.start({
      ready() {
        member.isReady = true;
        isStarting = false;
        failedStarts = 0;
        startThreads();
        dispatch();
      },
      results(results) {
        const { batch } = member;
        if (!batch) return;
        for (const result of results) settle(batch.jobs[batch.answered++]!, result, batch.run === 'full');
        if (batch.answered === batch.jobs.length) {
          member.batch = undefined;
          queue.release(batch.jobs[0]!.workspace);
        }
        dispatch();
      },
      lost(loss) {
        members.delete(member);
        dying.add(member);
        if (closed) return;
        if (!member.isReady) isStarting = false;
        cleanUp(member, loss);
        startThreads();
        dispatch();
      },
      gone() {
        dying.delete(member);
        startThreads();
      },
    });
    const member: PoolMember = { thread, isReady: false, batch: undefined };
    members.add(member);
  }

  function dispatch(): void {
    for (;;) {
      const working = [...members].filter(({ batch }) => batch !== undefined);
      const free = [...members].find(({ isReady, batch }) => isReady && batch === undefined);
      if (!free || working.length >= size) return;
      const fullRuns = working.filter(({ batch }) => batch?.run === 'full').length;
      const next = queue.take(fullRuns < Math.max(1, size - 1));
      if (!next) return;
      const { run, jobs } = next;
      free.batch = { run, jobs, answered: 0 };
      free.thread.post({ run, jobs: jobs.map(({ message }) => message) });
    }
  }

  function finish(job: SandboxJob, outcome: SandboxOutcome): void {
    forget(job);
    counts[outcome.outcome === 'done' ? 'rendered' : outcome.outcome] += 1;
    count('sandbox_jobs', { program: program.name, outcome: outcome.outcome });
    job.finish(outcome);
  }

  function forget(job: SandboxJob): void {
    pending.delete(job);
    if (pending.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function retryInFull(job: SandboxJob): void {
    job.needsFullRun = true;
    queue.putBack([job], 'first');
  }

  function settle(job: SandboxJob, result: ThreadResult, wasFull: boolean): void {
    queue.charge(job.workspace, result.milliseconds);
    if (result.outcome === 'done') {
      if (result.outOfTime) queue.suspect(job);
      else queue.learn(job, result.milliseconds / rendersOf(job, result.outputs));
      finish(job, result);
    } else if (result.outOfTime && !wasFull) {
      retryInFull(job);
    } else {
      if (result.outOfTime) queue.suspect(job);
      finish(job, result);
    }
  }

  function cleanUp(member: PoolMember, { cause, guilty: place, part, error }: Loss): void {
    if (!member.isReady) {
      failedStarts += 1;
      if (failedStarts >= failedStartsInARow) abandonAll(error ?? new Error('the threads do not start'));
      return;
    }
    const { batch } = member;
    if (!batch) return;
    member.batch = undefined;
    const { run, jobs } = batch;
    const guilty = place === undefined ? undefined : jobs[place];
    const innocent = jobs.slice(batch.answered).filter((job) => job !== guilty);
    counts.killed += 1;
    count('sandbox_kills', { program: program.name });
    if (guilty) queue.charge(guilty.workspace, program.runs[run].kill);
    const workspace = (guilty ?? innocent[0])?.workspace;
    if (workspace) queue.release(workspace);
    queue.putBack(innocent, 'first');
    if (!guilty) return;
    if (cause === 'out of time' && run === 'short') return retryInFull(guilty);
    queue.suspect(guilty);
    finish(guilty, { outcome: 'failed', faults: [{ part, message: program.words[cause] }] });
  }

  function abandonAll(reason: Error): void {
    queue.takeAll();
    for (const job of pending) {
      forget(job);
      job.abandon(reason);
    }
  }

  function tick(): void {
    for (const { thread, batch } of members) thread.watch(tickMs, batch && program.runs[batch.run].kill);
    for (const job of queue.takeStale()) finish(job, { outcome: 'busy' });
  }

  return {
    /** Rejects only when the pool is closed, or its threads do not start. */
    run({ workspaceId, ...work }: Work): Promise<SandboxOutcome> {
      const { promise, resolve, reject } = Promise.withResolvers<SandboxOutcome>();
      const job: SandboxJob = {
        ...work,
        workspace: queue.workspace(workspaceId),
        arrivedAt: performance.now(),
        needsFullRun: false,
        finish: resolve,
        abandon: reject,
      };
      pending.add(job);
      // Threads never keep the process alive; this timer does, while an answer is still owed.
      timer ??= setInterval(tick, tickMs);
      if (!queue.add(job)) finish(job, { outcome: 'busy' });
      startThreads();
      dispatch();
      return promise;
    },

    /** Starts the spares before the first job. */
    warmUp: startThreads,

    async close(): Promise<void> {
      closed = true;
      abandonAll(new Error('the sandbox is closed'));
      await Promise.all([...members, ...dying].map(({ thread }) => thread.end()));
    },

    stats() {
      const working = [...members].filter(({ batch }) => batch !== undefined).length;
      return { threads: members.size, working, queued: queue.length, ...counts };
    },
  };
}

const noStats: PoolStats = { threads: 0, working: 0, queued: 0, rendered: 0, failed: 0, busy: 0, killed: 0 };

/** A pool that its first job opens, and that closes with the process. A job after that opens it again. */
export function lazyPool(open: () => Pool) {
  let pool: Pool | undefined;
  async function close(): Promise<void> {
    const opened = pool;
    pool = undefined;
    await opened?.close();
  }
  function opened(): Pool {
    closeAtEnd(close);
    return (pool ??= open());
  }
  return { opened, close, stats: () => pool?.stats() ?? noStats };
}
