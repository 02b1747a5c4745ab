import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JobsOptions, Queue } from 'bullmq';
import { databaseTime, now } from '../common/clock.ts';
import { logger } from '../common/logger.ts';
import { count } from '../common/metrics.ts';
import { requestId } from '../common/request-context.ts';
import { config } from '../config/config.ts';
import { afterCommit } from '../db/client.ts';
import { queueNames } from '../jobs/index.ts';
import type { Job } from '../jobs/job.ts';
import { closeProducer, primariesOf, producerConnection } from './connection.ts';
import { partitionOf, partitions, prefixOf } from './partitions.ts';

export { producerConnection, type RedisConnection } from './connection.ts';
export { findRecentRedisFault, findRedisFault, isRedisUp, type RedisFault } from './probe.ts';
export { deleteGatewayStates, readGatewayStates, writeGatewayStates } from './states.ts';
export { addTotals, readGauges, readTotals, writeGauges } from './totals.ts';

const queues = new Map<string, Queue>();

/** A partition of a queue; the first is all of it unless QUEUE_PARTITIONS says otherwise. */
export function queueOf(queueName: string, partition = 0): Queue {
  const key = `${partition} ${queueName}`;
  let queue = queues.get(key);
  if (!queue) {
    queue = new Queue(queueName, {
      connection: producerConnection(),
      prefix: prefixOf(partition),
      skipVersionCheck: true,
      skipWaitingForReady: true,
    });
    queue.on('error', (error) => logger.debug({ err: error, queue: queueName }, 'queue'));
    queues.set(key, queue);
  }
  return queue;
}

export async function closeQueues(): Promise<void> {
  await Promise.all([...queues.values()].map((queue) => queue.close().catch(() => undefined)));
  queues.clear();
  closeProducer();
}

/**
 * When a job was made, from which its delay counts. Not by the clock of this process, which may be wrong and would
 * put it into the wrong order with all others; nor by one that a test shifted, as BullMQ knows nothing of it.
 */
const timesOf = (dueAt: Date | null | undefined) => ({
  timestamp: databaseTime().getTime(),
  delay: dueAt ? Math.max(0, dueAt.getTime() - now().getTime()) : 0,
});

const jobOptions: JobsOptions = {
  // Whether a job is tried again is decided from its row; this must only never run out.
  attempts: 1_000_000,
  backoff: { type: 'custom' },
  // Each turn of a long outage would add one, in Redis' memory.
  stackTraceLimit: 1,
  // A kept job would block its successor, because ids are not given twice.
  removeOnComplete: true,
  removeOnFail: true,
};

/** Wake-ups on their way to Redis; above this many Redis is not keeping up and the sweep does better. */
const maxInFlight = 20_000;
let inFlight = 0;

type EnqueueOptions<Lane> = {
  lane: Lane;
  id: string;
  at?: Date | null;
  requestId?: string | null;
  /** Larger is later; none or 0 comes before all that have one. */
  priority?: number;
};

/**
 * Wakes a worker, at `at` or now; inside a transaction it waits for the commit (architecture rule 2). Best effort: it
 * neither throws nor delays the caller, and an error does not even mean that the job is not there. `id` names the
 * attempt (no `:`); a job that waits under the same id already stays the only one.
 */
export function enqueue<Payload extends object, Lane extends string>(
  job: Job<Payload, Lane>,
  payload: Payload,
  options: EnqueueOptions<Lane>,
): void {
  const request = options.requestId === undefined ? requestId() : options.requestId;
  afterCommit(() => {
    if (inFlight >= maxInFlight) return count('wake_ups_dropped');
    inFlight += 1;
    queueOf(job.lanes[options.lane], partitionOf(options.id))
      .add(
        job.name,
        { ...payload, requestId: request },
        {
          ...jobOptions,
          jobId: options.id,
          ...timesOf(options.at),
          priority: options.priority ?? 0,
        },
      )
      .catch((error) => noteMissed(error, job, 1))
      .finally(() => {
        inFlight -= 1;
      });
  });
}

const logEveryMs = 10_000;
let logNotBefore = Number.NEGATIVE_INFINITY;

function noteMissed(error: Error, job: Job, jobs: number): void {
  count('wake_ups_failed', {}, jobs);
  logger.debug({ err: error, job: job.name }, 'wake-ups failed; the sweep will make them');
  // A full Redis looks well otherwise: it answers, and takes nothing.
  if (!/\bOOM\b/.test(error.message) || performance.now() < logNotBefore) return;
  logNotBefore = performance.now() + logEveryMs;
  logger.error({ err: error }, 'Redis is full; work waits in MySQL until it takes jobs again');
}

/** Redis does nothing else while it takes them, and a one-time code may be next. */
const jobsAtOnce = 25;

/** Many wake-ups of one lane in few round trips. Returns false when Redis did not take them. */
export async function enqueueAll<Payload extends object, Lane extends string>(
  job: Job<Payload, Lane>,
  lane: Lane,
  items: { payload: Payload; id: string; at: Date | null; requestId: string | null; priority?: number }[],
): Promise<boolean> {
  const jobs = items.map((item) => ({
    name: job.name,
    data: { ...item.payload, requestId: item.requestId },
    opts: {
      ...jobOptions,
      jobId: item.id,
      ...timesOf(item.at),
      priority: item.priority ?? 0,
    },
  }));
  try {
    for (const [partition, some] of Map.groupBy(jobs, ({ opts }) => partitionOf(opts.jobId)))
      for (let start = 0; start < some.length; start += jobsAtOnce)
        await queueOf(job.lanes[lane], partition).addBulk(some.slice(start, start + jobsAtOnce));
    return true;
  } catch (error) {
    noteMissed(error as Error, job, jobs.length);
    return false;
  }
}

/** Work that is due later than this waits in MySQL, parked (architecture rule 3). */
export function wakeBefore(at: Date): Date {
  return new Date(at.getTime() + config.WAKE_AHEAD_SECONDS * 1000);
}

/** Whether work due then belongs into Redis already. */
export function isNear(dueAt: Date): boolean {
  return dueAt <= wakeBefore(now());
}

/**
 * One run of a repeating job for each stretch of time, whoever asks for it: the run that is done is kept for a
 * while, so that its id still refuses a second one.
 */
export function enqueueRepeating(job: Job, everySeconds: number): void {
  const stretch = Math.floor(now().getTime() / (everySeconds * 1000));
  const jobId = `${job.name}-${stretch}`;
  queueOf(Object.values<string>(job.lanes)[0]!, partitionOf(jobId))
    .add(
      job.name,
      {},
      {
        ...jobOptions,
        jobId,
        removeOnComplete: { count: 10 },
      },
    )
    .catch((error) => logger.debug({ err: error, job: job.name }, 'a repeating job could not be added'));
}

/** The payloads of the next jobs in the partitions of a queue; none where none waits, and while Redis is away. */
export async function readNextPayloads(queueName: string): Promise<unknown[]> {
  const next = partitions().map((partition) =>
    queueOf(queueName, partition)
      .getJobs(['waiting'], 0, 0, true)
      .catch(() => []),
  );
  return (await Promise.all(next)).flatMap(([job]) => (job ? [job.data] : []));
}

const states = ['waiting', 'prioritized', 'active', 'delayed', 'failed'] as const;

/** How many jobs each queue holds, by state; null while Redis is away. */
export async function readQueueDepths(): Promise<{ queue: string; state: string; jobs: number }[] | null> {
  try {
    const depths = await Promise.all(
      queueNames.map(async (queue) => {
        const counts = await Promise.all(
          partitions().map((partition) => queueOf(queue, partition).getJobCounts(...states)),
        );
        const jobsIn = (state: string) => counts.reduce((sum, each) => sum + (each[state] ?? 0), 0);
        return states.map((state) => ({ queue, state, jobs: jobsIn(state) }));
      }),
    );
    return depths.flat();
  } catch {
    return null;
  }
}

/** Whether one of these queues has a job that is being done, or could be; false while Redis is away. */
export async function hasJobsInHand(queueNames: readonly string[]): Promise<boolean> {
  const counts = queueNames.flatMap((queueName) =>
    partitions().map((partition) =>
      queueOf(queueName, partition)
        .getJobCountByTypes('active', 'waiting', 'prioritized')
        .catch(() => 0),
    ),
  );
  return (await Promise.all(counts)).some((jobs) => jobs > 0);
}

/** Settings of Redis that matter; null while it is away. Waits a little for a connection that is being made. */
export async function findRedisSettings(): Promise<{ maxmemoryPolicy: string } | null> {
  const connection = producerConnection();
  if (connection.status !== 'ready')
    await Promise.race([once(connection, 'ready'), sleep(2000)]).catch(() => undefined);
  try {
    const infos = await Promise.all(primariesOf(connection).map((one) => one.info('memory')));
    const policies = infos.map((info) => /maxmemory_policy:(\S+)/.exec(info)?.[1] ?? 'noeviction');
    return { maxmemoryPolicy: policies.find((policy) => policy !== 'noeviction') ?? 'noeviction' };
  } catch {
    return null;
  }
}

/** How full Redis is, of a Cluster the fullest of its nodes; a limit of 0 is none. Null while it is away. */
export async function readRedisMemory(): Promise<{ usedBytes: number; limitBytes: number } | null> {
  try {
    const infos = await Promise.all(primariesOf(producerConnection()).map((one) => one.info('memory')));
    const nodes = infos.map((info) => {
      const of = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
      return { usedBytes: of('used_memory'), limitBytes: of('maxmemory') };
    });
    const fullness = ({ usedBytes, limitBytes }: (typeof nodes)[number]) =>
      usedBytes / (limitBytes || 2 ** 50);
    return nodes.toSorted((one, other) => fullness(other) - fullness(one))[0] ?? null;
  } catch {
    return null;
  }
}
