import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'bullmq';
import { logger } from '../shared/common/logger.ts';
import { config } from '../shared/config/config.ts';
import { shortGrace } from '../shared/config/disagreements.ts';
import { jobs } from '../shared/jobs/index.ts';
import { type Chosen, chosenOf } from '../shared/jobs/job.ts';
import { sendSms } from '../shared/jobs/send-sms.ts';
import { startUp, startUpOrExit, stopWithGrace } from '../shared/lifecycle.ts';
import { connectToRedis, type RedisConnection } from '../shared/queue/connection.ts';
import { partitions, prefixOf } from '../shared/queue/partitions.ts';
import { backoffMs, type Handler, noteStopping, workDone } from './handle.ts';
import { loadHandlers } from './jobs/index.ts';
import { startSchedule } from './schedule.ts';

// How long BullMQ may take to close its workers once no job is running.
const closeLimitMs = 2_000;
// The rest of the grace closes the database and the queues.
const stopLimitMs = Math.max(config.SHUTDOWN_SECONDS * 500, config.SHUTDOWN_SECONDS * 1000 - 3_000);

/**
 * Runs the jobs of these names, all of them by default; `send-email:authentication` is one lane of a job. `stop` lets
 * the work in progress finish.
 */
export async function startWorkers(names: string[] = jobs.map(({ name }) => name)) {
  const chosen = names.map((name) => chosenOf(name, jobs));
  const handlers = await loadHandlers(chosen.map(({ job }) => job.name));
  // Carriers count binds, so only processes that send texts have one.
  const hasGateways = chosen.some(({ job }) => job.name === sendSms.name);
  const smsGateways = hasGateways ? await import('../shared/domain/sms/gateways/gateways.ts') : undefined;
  await startUp();
  noteStopping(false);
  const connection = connectToRedis({
    // Workers wait for Redis however long it is away, unlike the connection that adds jobs.
    maxRetriesPerRequest: null,
  });
  const workers = chosen.flatMap((one, index) => startLanes(one, handlers[index]!, connection));
  const schedule = startSchedule(chosen.map(({ job }) => job));
  smsGateways?.start();
  return {
    stop: async () => {
      noteStopping(true);
      schedule.stop();
      // From here no worker fetches a job, whether Redis is there or not.
      const closed = Promise.all(workers.map((worker) => worker.close()));
      // BullMQ may end its own wait while jobs run, and it waits without end for a Redis that is away. So this waits
      // for the work itself, whose results are in MySQL. Afterwards BullMQ only tells Redis. If Redis does not hear of
      // the end of a job, it later treats the job as that of a dead worker.
      await workDone(stopLimitMs);
      await Promise.race([closed, sleep(closeLimitMs, undefined, { ref: false })]);
      await smsGateways?.stop();
      connection.disconnect();
    },
  };
}

function startLanes({ queueNames }: Chosen, handler: Handler, connection: RedisConnection): Worker[] {
  return queueNames
    .flatMap((lane) => Array<string>(handler.workers).fill(lane))
    .flatMap((queueName) => partitions().map((partition) => ({ queueName, partition })))
    .map(({ queueName, partition }) => {
      const worker = new Worker(queueName, handler.process, {
        connection,
        prefix: prefixOf(partition),
        concurrency: Math.ceil(handler.concurrencyOf(queueName) / config.QUEUE_PARTITIONS),
        // The row's lease decides who may work. BullMQ's lock only tells that a worker died with jobs that it had
        // fetched and not yet claimed, so it may be short: at worst a job runs twice and finds nothing to claim.
        lockDuration: 4_000,
        stalledInterval: 4_000,
        maxStalledCount: 1_000_000,
        // The pause after a connection broke while jobs were being fetched; by default it is 15 seconds.
        runRetryDelay: 1_000,
        skipVersionCheck: true,
        settings: { backoffStrategy: backoffMs },
      });
      worker.on('error', (error) => logger.debug({ err: error, queue: queueName }, 'worker'));
      return worker;
    });
}

async function main(): Promise<void> {
  const names = process.argv.slice(2);
  await startUpOrExit(names.length > 0 ? names.join('+') : 'all');
  const doubt = shortGrace(config);
  if (doubt) logger.warn(doubt);
  const workers = await startWorkers(names.length > 0 ? names : undefined);
  stopWithGrace('work', workers.stop);
  logger.info({ jobs: names.length > 0 ? names : 'all' }, 'workers started');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
