import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JobsOptions, type JobType, Queue } from 'bullmq';
import { databaseTime, now } from '../common/clock.ts';
import { atMostEvery, logger } from '../common/logger.ts';
import { count } from '../common/metrics.ts';
import { requestId } from '../common/request-context.ts';
import { config } from '../config/config.ts';
import { afterCommit } from '../db/client.ts';
import { queueNames } from '../jobs/index.ts';
import type { Job } from '../jobs/job.ts';
import { closeProducer, primariesOf, producerConnection } from './connection.ts';
import { partitionOf, partitions, prefixOf } from './partitions.ts';

export { producerConnection, type RedisConnection } from './connection.ts';
export { findRecentRedisFault, findRedisFault, type RedisFault } from './probe.ts';
export { processReports, thisProcess } from './process-reports.ts';
export { addTotals, readGauges, readTotals, writeGauges } from './totals.ts';

const queues = new Map<string, Queue>();

/** Returns a partition of a queue. Unless QUEUE_PARTITIONS is set, the first partition is the whole queue. */
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
 * The creation time of a job, and its delay from now. The creation time is the database's: a wrong clock of this
 * process would give the job a wrong place among the others, and BullMQ does not know a clock that a test has shifted.
 */
const timesOf = (dueAt: Date | null | undefined) => ({
  timestamp: databaseTime().getTime(),
  delay: dueAt ? Math.max(0, dueAt.getTime() - now().getTime()) : 0,
});

const jobOptions: JobsOptions = {
  // The row of a job decides whether the job is tried again, so this limit must never be reached.
  attempts: 1_000_000,
  backoff: { type: 'custom' },
  // Otherwise each retry in a long outage would add a stack trace to Redis' memory.
  stackTraceLimit: 1,
  // A finished job that is kept would block a later job with the same id.
  removeOnComplete: true,
  removeOnFail: true,
};

/**
 * The most wake-ups on their way to Redis. If there are more, Redis is too slow, so further ones are dropped and left
 * to the sweep.
 */
const maxInFlight = 20_000;
let inFlight = 0;

type WakeUp<Payload> = {
  payload: Payload;
  id: string;
  at?: Date | null;
  requestId: string | null;
  /** A larger number runs later; a job without a priority, or with 0, runs before all that have one. */
  priority?: number;
};

const jobFor = (job: Job, { payload, id, at, requestId, priority }: WakeUp<object>) => ({
  name: job.name,
  data: { ...payload, requestId },
  opts: { ...jobOptions, jobId: id, ...timesOf(at), priority: priority ?? 0 },
});

type EnqueueOptions<Lane> = Omit<WakeUp<unknown>, 'payload' | 'requestId'> & {
  lane: Lane;
  requestId?: string | null;
};

/**
 * Wakes a worker, at `at` or now; inside a transaction only after the commit (architecture rule 2). Best effort: the
 * call neither throws nor delays the caller, and even after an error the job may be in Redis. `id` names the attempt
 * (no `:`); while a job with this id waits, no second one is added.
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
    const { name, data, opts } = jobFor(job, { ...options, payload, requestId: request });
    queueOf(job.lanes[options.lane], partitionOf(options.id))
      .add(name, data, opts)
      .catch((error) => noteMissed(error, job, 1))
      .finally(() => {
        inFlight -= 1;
      });
  });
}

const mayLog = atMostEvery(10_000);

function noteMissed(error: Error, job: Job, jobs: number): void {
  count('wake_ups_failed', {}, jobs);
  logger.debug({ err: error, job: job.name }, 'jobs could not be added to Redis; the sweep adds them later');
  // A full Redis otherwise looks healthy: it answers, but takes no jobs.
  if (!/\bOOM\b/.test(error.message) || !mayLog()) return;
  logger.error({ err: error }, 'Redis is full; work waits in MySQL until it takes jobs again');
}

/** The most jobs in one call. Redis does nothing else during a call, and a one-time code may be next. */
const jobsAtOnce = 25;

/**
 * Adds many wake-ups of one lane in few round trips. If a partition refuses wake-ups, the other partitions take them:
 * otherwise the rows of a dead partition would stand before all that are due later. Returns the wake-ups that no
 * partition took. `failed`: the partitions that have refused a call. None of them is asked again, so the wait for a
 * dead partition's answer happens only once.
 */
export async function enqueueAll<Payload extends object, Lane extends string, Item extends WakeUp<Payload>>(
  job: Job<Payload, Lane>,
  lane: Lane,
  items: Item[],
  failed = new Set<number>(),
): Promise<Item[]> {
  let left = items;
  while (left.length > 0 && failed.size < config.QUEUE_PARTITIONS) {
    const groups = Map.groupBy(left, ({ id }) => partitionOf(id, failed));
    left = [];
    for (const [partition, some] of groups) {
      const queue = queueOf(job.lanes[lane], partition);
      let taken = 0;
      try {
        for (; taken < some.length; taken += jobsAtOnce)
          await queue.addBulk(some.slice(taken, taken + jobsAtOnce).map((item) => jobFor(job, item)));
      } catch (error) {
        failed.add(partition);
        noteMissed(error as Error, job, some.length - taken);
      }
      left.push(...some.slice(taken));
    }
  }
  return left;
}

/** Work that is due later than this waits in MySQL, parked (architecture rule 3). */
export function wakeBefore(at: Date): Date {
  return new Date(at.getTime() + config.WAKE_AHEAD_SECONDS * 1000);
}

/** Whether work due at this time belongs in Redis already (WAKE_AHEAD_SECONDS). */
export function isNear(dueAt: Date): boolean {
  return dueAt <= wakeBefore(now());
}

/** The runs of a repeating job that may wait while no process takes them. One run does the work of all missed runs. */
const mostRunsWaiting = 2;

/**
 * Adds one run of a repeating job for each period, however many processes ask for it; none while enough of them wait.
 * The last 10 finished runs are kept, so that the id of a finished run still blocks a second one. Best effort: the call
 * never throws.
 */
export async function enqueueRepeating(job: Job, everySeconds: number): Promise<void> {
  const stretch = Math.floor(now().getTime() / (everySeconds * 1000));
  const jobId = `${job.name}-${stretch}`;
  const queue = queueOf(Object.values<string>(job.lanes)[0]!, partitionOf(jobId));
  try {
    // All but the first process find the run there. So they ask for one key, instead of what adding a job costs.
    if ((await producerConnection().exists(queue.toKey(jobId))) > 0) return;
    if ((await queue.getWaitingCount()) >= mostRunsWaiting) return;
    await queue.add(job.name, {}, { ...jobOptions, jobId, removeOnComplete: { count: 10 } });
  } catch (error) {
    logger.debug({ err: error, job: job.name }, 'a repeating job could not be added');
  }
}

/** Returns the payload of the next waiting job of each partition; empty if none waits, or while Redis is away. */
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

/** Returns how many jobs of these queues run, or could run now; 0 while Redis is away. */
export function findRunnableJobs(queueNames: readonly string[]): Promise<number> {
  return findJobCount(queueNames, ['active', 'waiting', 'prioritized']);
}

/** Returns how many jobs of these queues could run now, and wait for a worker; 0 while Redis is away. */
export function findJobsWaiting(queueNames: readonly string[]): Promise<number> {
  return findJobCount(queueNames, ['waiting', 'prioritized']);
}

async function findJobCount(queueNames: readonly string[], states: JobType[]): Promise<number> {
  const counts = queueNames.flatMap((queueName) =>
    partitions().map((partition) =>
      queueOf(queueName, partition)
        .getJobCountByTypes(...states)
        .catch(() => 0),
    ),
  );
  return (await Promise.all(counts)).reduce((sum, jobs) => sum + jobs, 0);
}

/** Returns the Redis settings that matter; null while Redis is away. Waits up to 2 seconds for a new connection. */
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

/**
 * Returns the memory use of Redis (of a Cluster: of its fullest node); a limit of 0 is none. Null while Redis is away.
 */
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
