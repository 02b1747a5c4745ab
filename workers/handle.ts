import { setTimeout as sleep } from 'node:timers/promises';
import type { Job as QueuedJob } from 'bullmq';
import { databaseTime, fromNow, now } from '../shared/common/clock.ts';
import { isOutage } from '../shared/common/errors.ts';
import { logger } from '../shared/common/logger.ts';
import { count } from '../shared/common/metrics.ts';
import { runWithRequest } from '../shared/common/request-context.ts';
import type { Job } from '../shared/jobs/job.ts';
import { isNear } from '../shared/queue/queue.ts';
import type { WorkOutcome } from '../shared/work/outcome.ts';
import * as database from './database-circuit-breaker.ts';

/** A job contract with the code that runs it, its share of the process, and how it is queued. */
export type Handler = {
  job: Job;
  /** Returns the concurrency of the lane that has this queue. */
  concurrencyOf: (queueName: string) => number;
  /**
   * BullMQ workers for each lane. One worker fetches all jobs that it may hold, one by one, before it begins the
   * first.
   */
  workers: number;
  process: (queued: QueuedJob) => Promise<void>;
};

/** Makes BullMQ run a job again at `at`, through its custom backoff. This is not a failure of the job. */
export class RetryLater extends Error {
  readonly at: Date;
  constructor(at: Date) {
    super(`again at ${at.toISOString()}`);
    this.name = 'RetryLater';
    this.at = at;
  }
}

// Delay after an error of ours or of the database. The row holds the truth, so nothing is lost by waiting.
const faultDelayMs = 1_000;

/**
 * Returns the delay for BullMQ's backoff strategy: a RetryLater says until when, any other error gets a fixed delay.
 */
export function backoffMs(_attemptsMade: number, _type?: string, error?: Error): number {
  if (error instanceof RetryLater) return Math.max(1, error.at.getTime() - now().getTime() + 1);
  return faultDelayMs;
}

/** Parses the payload, carries the request id over, and turns the outcome into what BullMQ understands. */
export function handle<Payload, Lane extends string>(
  job: Job<Payload, Lane>,
  options: {
    concurrency: number | ((lane: Lane) => number);
    workers?: number;
    /** Whether the job repeats: the schedule then adds the next run. */
    repeats?: boolean;
  },
  /** `isStalled`: BullMQ takes the worker that had the job before for dead. It may only have lost Redis. */
  run: (payload: Payload, lane: Lane, isStalled: boolean) => Promise<WorkOutcome>,
): Handler {
  const lanes = Object.keys(job.lanes) as Lane[];
  const laneOf = (queueName: string) => lanes.find((name) => job.lanes[name] === queueName) ?? lanes[0]!;
  const { concurrency } = options;
  return {
    job,
    concurrencyOf: (queueName) =>
      typeof concurrency === 'number' ? concurrency : concurrency(laneOf(queueName)),
    workers: options.workers ?? 1,
    process: (queued) =>
      runWithRequest({ requestId: queued.data.requestId ?? `job-${queued.id}` }, async () => {
        const parsed = job.payload.safeParse(queued.data);
        if (queued.name !== job.name || !parsed.success) return leave(job, queued);
        const again = await settle(job, queued, options.repeats, () =>
          run(parsed.data, laneOf(queued.queueName), queued.stalledCounter > 0),
        );
        // A repeating job is not kept: after an outage all runs that were missed would run at once.
        if (again && !options.repeats) throw again;
      }),
  };
}

const strangerPauseMs = 5_000;
/** Longer than two versions run side by side. */
const strangerLifeMs = 3_600_000;

/**
 * Leaves a job that this version does not understand to the other version of a rollout. Drops the job once it is older
 * than a rollout can be.
 */
function leave(job: Job, queued: QueuedJob): void {
  const context = { job: job.name, name: queued.name, jobId: queued.id };
  if (databaseTime().getTime() - queued.timestamp > strangerLifeMs) {
    logger.error(context, 'a job that no worker understands was dropped');
    return;
  }
  if (queued.attemptsMade === 0)
    logger.warn(context, 'a job that this version does not understand is left to another version');
  count('jobs_left');
  throw retryIn(strangerPauseMs);
}

let stopping = false;

/** Whether this process is about to end; for work that takes minutes. */
export const isStopping = (): boolean => stopping;

export function noteStopping(value: boolean): void {
  stopping = value;
}

let inProgress = 0;

/** Resolves when no handler of this process is at work, or when the limit has passed. */
export async function workDone(limitMs: number): Promise<void> {
  const end = performance.now() + limitMs;
  while (inProgress > 0 && performance.now() < end) await sleep(20);
}

/**
 * Does the work, once the database can be used. Returns when BullMQ is to run the job again; null if not at all.
 */
async function settle(
  job: Job,
  queued: QueuedJob,
  repeats: boolean | undefined,
  work: () => Promise<WorkOutcome>,
): Promise<RetryLater | null> {
  // BullMQ had fetched this job, or asked for it, before the stop. Another worker begins it.
  if (stopping) return retryIn(1);
  // A job that waits for the database is in progress as well: it goes on as soon as the database is back.
  inProgress += 1;
  try {
    const pass = await database.pass(repeats ? 0 : undefined);
    if ('waitMs' in pass) return retryIn(pass.waitMs);
    try {
      return stopping ? retryIn(1) : await attempt(job, queued, work);
    } finally {
      pass.leave();
    }
  } finally {
    inProgress -= 1;
  }
}

async function attempt(
  job: Job,
  queued: QueuedJob,
  work: () => Promise<WorkOutcome>,
): Promise<RetryLater | null> {
  try {
    const outcome = await work();
    // A job that only says "later" may not have used the database, so it proves nothing about it.
    if (typeof outcome === 'string') database.note(false);
    // Work that is due much later has been parked in its row; the sweep brings it back (architecture rule 3).
    return typeof outcome !== 'string' && isNear(outcome.retryAt) ? new RetryLater(outcome.retryAt) : null;
  } catch (error) {
    count('job_faults', { job: job.name });
    const context = { err: error, job: job.name, jobId: queued.id };
    if (isOutage(error)) logger.warn(context, 'a job met an outage');
    else logger.error(context, 'a job failed unexpectedly');
    if (isOutage(error)) database.note(true);
    return retryIn(faultDelayMs);
  }
}

function retryIn(ms: number): RetryLater {
  return new RetryLater(fromNow(ms));
}
