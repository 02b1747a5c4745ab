import { setTimeout as sleep } from 'node:timers/promises';
import type { Job as QueuedJob } from 'bullmq';
import { now } from '../shared/clock.ts';
import { Problem } from '../shared/errors.ts';
import type { Job } from '../shared/jobs/job.ts';
import { logger } from '../shared/logger.ts';
import { count } from '../shared/metrics.ts';
import { isNear } from '../shared/queue.ts';
import { runWithRequest } from '../shared/request-context.ts';

/** What a handler says of its work: it is over, it was not ours to do, or it goes on at a time. */
export type Outcome = 'done' | 'dropped' | { retryAt: Date };

/** A job contract with the code that runs it, its share of the process, and how it is queued. */
export type Handler = {
  job: Job;
  concurrency: number;
  /** BullMQ workers for each lane: one fetches all that it may hold, job after job, before it begins with the first. */
  workers: number;
  process: (queued: QueuedJob) => Promise<void>;
};

/** Sends a job into BullMQ's custom backoff until then; no failure, only its way of saying "later". */
export class RetryLater extends Error {
  readonly at: Date;
  constructor(at: Date) {
    super(`again at ${at.toISOString()}`);
    this.name = 'RetryLater';
    this.at = at;
  }
}

// After a fault of ours or of the database; the row is the truth, so nothing is lost by waiting.
const faultDelayMs = 1_000;

/** BullMQ's backoff strategy: the error knows the time. */
export function backoffMs(_attemptsMade: number, _type?: string, error?: Error): number {
  if (error instanceof RetryLater) return Math.max(1, error.at.getTime() - now().getTime() + 1);
  return faultDelayMs;
}

/** Parses the payload, carries the request id over, and turns the outcome into what BullMQ understands. */
export function handle<Payload, Lane extends string>(
  job: Job<Payload, Lane>,
  options: { concurrency: number; workers?: number },
  run: (payload: Payload, lane: Lane) => Promise<Outcome>,
): Handler {
  const lanes = Object.keys(job.lanes) as Lane[];
  return {
    job,
    concurrency: options.concurrency,
    workers: options.workers ?? 1,
    process: (queued) =>
      runWithRequest({ requestId: queued.data.requestId ?? `job-${queued.id}` }, async () => {
        const parsed = job.payload.safeParse(queued.data);
        if (!parsed.success) {
          logger.error({ job: job.name, jobId: queued.id }, 'a job with a payload that its contract refuses');
          return;
        }
        const lane = lanes.find((name) => job.lanes[name] === queued.queueName) ?? lanes[0]!;
        await settle(job, queued, run(parsed.data, lane));
      }),
  };
}

let inHand = 0;

/** Resolves when no handler of this process is at work, or when the limit has passed. */
export async function workDone(limitMs: number): Promise<void> {
  const end = performance.now() + limitMs;
  while (inHand > 0 && performance.now() < end) await sleep(20);
}

async function settle(job: Job, queued: QueuedJob, work: Promise<Outcome>): Promise<void> {
  inHand += 1;
  try {
    const outcome = await work.finally(() => {
      inHand -= 1;
    });
    if (typeof outcome === 'string') return;
    // What is due much later has been parked in its row; the sweep brings it back (design rule 3).
    if (isNear(outcome.retryAt)) throw new RetryLater(outcome.retryAt);
  } catch (error) {
    if (error instanceof RetryLater) throw error;
    count('job_faults', { job: job.name });
    const context = { err: error, job: job.name, jobId: queued.id };
    if (error instanceof Problem) logger.warn(context, 'a job met an outage');
    else logger.error(context, 'a job failed unexpectedly');
    throw new RetryLater(new Date(now().getTime() + faultDelayMs));
  }
}
