import { type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';

/** As many as the platform has by default. */
const poolSize = 20;

export function openDatabase(): mysql.Pool {
  return mysql.createPool({
    uri: process.env['MYSQL_URL']!,
    connectionLimit: poolSize,
    timezone: 'Z',
    charset: 'utf8mb4',
  });
}

export function openRedis(): Redis {
  return new Redis(process.env['REDIS_URL']!, { maxRetriesPerRequest: null });
}

export const prefix = process.env['QUEUE_PREFIX']!;

/** Starts a plain BullMQ worker with this number of jobs in flight. */
export function workOn<Data>(
  queue: string,
  jobsInFlight: number,
  run: (job: Job<Data>) => Promise<void>,
): void {
  new Worker(queue, run, {
    connection: openRedis(),
    prefix,
    concurrency: jobsInFlight,
    skipVersionCheck: true,
  }).on('error', (error) => process.stderr.write(`${error.stack}\n`));
}
