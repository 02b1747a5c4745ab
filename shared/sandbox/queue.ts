import { LRUCache } from 'lru-cache';
import type { PartFault, Run, ThreadJob } from './protocol.ts';

export type SandboxOutcome =
  | { outcome: 'done'; outputs: string[]; faults?: PartFault[] }
  | { outcome: 'failed'; faults: PartFault[] }
  | { outcome: 'busy' };

/** A render that waits or runs. */
export type SandboxJob = {
  workspace: SandboxTenant;
  /** Hash of the sources; the queue remembers their render times under it. */
  source: string;
  message: ThreadJob;
  length: number;
  arrivedAt: number;
  /** The job needs a full run, because a short one was not enough. */
  needsFullRun: boolean;
  finish(outcome: SandboxOutcome): void;
  abandon(reason: Error): void;
};

type SandboxTenant = {
  id: string;
  waiting: SandboxJob[];
  waitingLength: number;
  running: boolean;
  /** CPU time of its last turn. The longer this was, the later its next turn comes. */
  takenMs: number;
  notBefore: number;
  suspectUntil: number;
};

const limits = { jobs: 1000, length: 32_000_000 };
const batch = { jobs: 16, milliseconds: 10 };
const suspectMs = 30_000;
/** While others wait, the next turn of a workspace comes after this many times the CPU time of its last turn. */
const shareOfTurns = 20;
/** Sources known to render within this may share a batch. */
const quickMs = 10;
const rememberedSources = 5000;
const rememberedWorkspaces = 1000;

/** Opens a queue of renders that wait for a thread, by workspace. `waitMs` is the longest that a render waits. */
export function openQueue(waitMs = 10_000) {
  const workspaces = new Map<string, SandboxTenant>();
  const waiting = new Set<SandboxTenant>();
  const knownMs = new LRUCache<string, number>({ max: rememberedSources });
  let trustedFirst = false;
  let forgetAt = rememberedWorkspaces;

  const isTrusted = (workspace: SandboxTenant) => workspace.suspectUntil < performance.now();
  const isKnown = (job: SandboxJob) =>
    !job.needsFullRun && knownMs.has(job.source) && isTrusted(job.workspace);

  // A job of rows may take as long as a whole batch, so it shares none.
  const mayShare = (job: SandboxJob) => isKnown(job) && job.message.kind !== 'rows';

  function nextInTurn(suits: (job: SandboxJob) => boolean): SandboxTenant | undefined {
    let best: SandboxTenant | undefined;
    let bestTurn = Infinity;
    for (const workspace of waiting) {
      const [first] = workspace.waiting;
      if (workspace.running || !first) continue;
      const turn = Math.max(first.arrivedAt, workspace.notBefore);
      if (turn >= bestTurn || !suits(first)) continue;
      best = workspace;
      bestTurn = turn;
    }
    return best;
  }

  /**
   * While others wait, gives suspects at most every second turn, so that twenty suspects are not twenty turns ahead.
   */
  function nextForFullRun(): SandboxTenant | undefined {
    trustedFirst = !trustedFirst;
    return (trustedFirst && nextInTurn((job) => isTrusted(job.workspace))) || nextInTurn(() => true);
  }

  function remove(workspace: SandboxTenant, count: number): SandboxJob[] {
    const jobs = workspace.waiting.splice(0, count);
    for (const job of jobs) workspace.waitingLength -= job.length;
    if (workspace.waiting.length === 0) waiting.delete(workspace);
    return jobs;
  }

  /** Takes the first job, and the next ones as long as they may share a batch with it. */
  function start(workspace: SandboxTenant): SandboxJob[] {
    const jobs = workspace.waiting.slice(0, batch.jobs);
    let milliseconds = 0;
    const shared = jobs.findIndex((job) => {
      milliseconds += knownMs.get(job.source) ?? 0;
      return !mayShare(job) || milliseconds > batch.milliseconds;
    });
    workspace.running = true;
    workspace.takenMs = 0;
    return remove(workspace, shared < 0 ? jobs.length : Math.max(1, shared));
  }

  function removeArrivedUntil(time: number): SandboxJob[] {
    return [...waiting].flatMap((workspace) => {
      const later = workspace.waiting.findIndex((job) => job.arrivedAt > time);
      return remove(workspace, later < 0 ? workspace.waiting.length : later);
    });
  }

  function forgetIdle(): void {
    for (const [id, workspace] of workspaces)
      if (!workspace.running && workspace.waiting.length === 0 && isTrusted(workspace)) workspaces.delete(id);
    forgetAt = Math.max(rememberedWorkspaces, workspaces.size * 2);
  }

  return {
    workspace(id: string): SandboxTenant {
      let workspace = workspaces.get(id);
      if (!workspace) {
        if (workspaces.size >= forgetAt) forgetIdle();
        workspace = {
          id,
          waiting: [],
          waitingLength: 0,
          running: false,
          takenMs: 0,
          notBefore: 0,
          suspectUntil: -Infinity,
        };
        workspaces.set(id, workspace);
      }
      return workspace;
    },

    /** Adds a job; returns false if the workspace is at its limit of waiting jobs. */
    add(job: SandboxJob): boolean {
      const { workspace } = job;
      if (workspace.waiting.length >= limits.jobs || workspace.waitingLength + job.length > limits.length)
        return false;
      this.putBack([job], 'last');
      return true;
    },

    putBack(jobs: SandboxJob[], place: 'first' | 'last'): void {
      for (const { workspace, length } of jobs) {
        workspace.waitingLength += length;
        waiting.add(workspace);
      }
      const target = jobs[0]?.workspace.waiting;
      if (place === 'first') target?.unshift(...jobs);
      else target?.push(...jobs);
    },

    /**
     * Takes the jobs to run next, all of one workspace. If no further thread may do full runs, sources that are known
     * to be quick come first, and new sources get a short run.
     */
    take(mayRunFull: boolean): { run: Run; jobs: SandboxJob[] } | undefined {
      const workspace = mayRunFull
        ? nextForFullRun()
        : (nextInTurn(isKnown) ?? nextInTurn((job) => !job.needsFullRun && isTrusted(job.workspace)));
      const first = workspace?.waiting[0];
      if (!workspace || !first) return undefined;
      const run = mayRunFull && !isKnown(first) ? 'full' : 'short';
      return { run, jobs: start(workspace) };
    },

    charge(workspace: SandboxTenant, milliseconds: number): void {
      workspace.takenMs += milliseconds;
    },

    /** Notes that the workspace has given its thread back. */
    release(workspace: SandboxTenant): void {
      workspace.running = false;
      workspace.notBefore = performance.now() + shareOfTurns * workspace.takenMs;
    },

    /**
     * Makes the workspace a suspect: for a while its sources get no short runs, so it can hold up only the threads for
     * full runs.
     */
    suspect(job: SandboxJob): void {
      job.workspace.suspectUntil = performance.now() + suspectMs;
      knownMs.delete(job.source);
    },

    learn({ source }: SandboxJob, milliseconds: number): void {
      // The average is kept, because one slow run among quick ones, such as the first in a thread, is not the source's
      // fault.
      const usualMs = 0.8 * (knownMs.get(source) ?? milliseconds) + 0.2 * milliseconds;
      if (usualMs > quickMs) knownMs.delete(source);
      else knownMs.set(source, usualMs);
    },

    /** Removes the jobs that have waited too long to be of use to anyone. */
    takeStale: () => removeArrivedUntil(performance.now() - waitMs),

    takeAll: () => removeArrivedUntil(Infinity),

    get length() {
      return [...waiting].reduce((sum, workspace) => sum + workspace.waiting.length, 0);
    },
  };
}
export type Queue = ReturnType<typeof openQueue>;
