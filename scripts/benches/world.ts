import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { checkout } from '../setup/environment.ts';
import * as session from '../setup/start/session.ts';
import { createTables, tables } from './bare/tables.ts';
import { deleteKeys } from './keys.ts';
import { startServant } from './program.ts';

/** A database and a queue prefix for this run alone, on the measured servers; and facts about these servers. */
export interface World {
  /** Logs, results. */
  folder: string;
  database: mysql.Connection;
  /** The settings that every program needs to find its way here. */
  settings: Record<string, string>;
  /** Process numbers of MySQL and Redis, where they run on this machine. */
  servers: Record<string, number>;
  machine: Record<string, string | number>;
  /** Empties everything that a run fills. */
  clear(): Promise<void>;
  jobs(queueName: string): Promise<number>;
  /** How many commands Redis has carried out since it was started, those of scripts too. */
  redisCommands(): Promise<number>;
  /** The memory of all keys of Redis, with those of other runs, in bytes. */
  redisBytes(): Promise<number>;
  close(): Promise<void>;
}

const filled = [
  'emails',
  'email_bodies',
  'email_attachments',
  'email_attachment_chunks',
  'events',
  'event_marks',
  'sms_messages',
  'sms_batches',
  'sms_batch_rows',
  'sms_batch_counts',
  'sms_receipts_unmatched',
  'sms_parts',
  'sms_gateway_posts',
  'sms_inbound_parts',
  'sms_inbound_unanswered',
  'simulator_messages',
  'simulator_phones',
  'simulator_answers',
  'waiting_counts',
  'webhook_deliveries',
  'webhook_attempts',
  'webhook_settlements',
  'webhook_hosts',
  'contacts',
  'contact_words',
  'contact_tags',
  'contact_counts',
  'conversations',
  'report_counts',
  'sms_ledger_sums',
  'report_latencies',
  'report_states',
  'report_names',
  ...Object.keys(tables),
];

export async function openWorld(options: {
  mysqlUrl: string;
  redisUrl: string;
  folder: string;
}): Promise<World> {
  const name = `bench_${process.pid}_${randomBytes(3).toString('hex')}`;
  const url = new URL(options.mysqlUrl);
  url.pathname = '/';
  const database = await mysql.createConnection({ uri: url.href, charset: 'utf8mb4' });
  const redis = new Redis(options.redisUrl, { maxRetriesPerRequest: 3 });
  const mysqlServer = await describeMysql(database);
  const redisServer = await describeRedis(redis);
  const prefix = `{${name}}`;
  url.pathname = `/${name}`;
  const settings = {
    MYSQL_URL: url.href,
    REDIS_URL: options.redisUrl,
    QUEUE_PREFIX: prefix,
    SECRET_KEY: `k1:${randomBytes(32).toString('hex')}`,
    // The endpoints of webhooks are programs of ours.
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
  const janitor = await startServant({
    args: [path.join(checkout, 'scripts/benches/janitor.ts')],
    settings,
    logFile: path.join(options.folder, 'logs/janitor.log'),
  });
  await janitor.ask('doNotAwait', database.threadId);
  await database.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
  await database.changeUser({ database: name });
  for (const statement of createTables) await database.query(statement);
  return {
    folder: options.folder,
    database,
    settings,
    servers: { ...mysqlServer.pids, ...redisServer.pids },
    machine: {
      cpu: cpus()[0]?.model ?? '?',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      node: process.version,
      mysql: mysqlServer.version,
      redis: redisServer.version,
    },
    async clear() {
      for (const table of filled) await database.query(`TRUNCATE TABLE ${table}`);
      await database.query('UPDATE counters SET value = 0');
      await deleteKeys(redis, prefix);
    },
    async jobs(queueName) {
      const key = `${prefix}:${queueName}`;
      return (await redis.llen(`${key}:wait`)) + (await redis.zcard(`${key}:prioritized`));
    },
    async redisCommands() {
      return Number(/^total_commands_processed:(\d+)/m.exec(await redis.info('stats'))?.[1]);
    },
    async redisBytes() {
      return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
    },
    async close() {
      await database.end();
      redis.disconnect();
      await janitor.stop();
    },
  };
}

type Server = { version: string; pids: Record<string, number> };

async function describeMysql(database: mysql.Connection): Promise<Server> {
  const [[row]] = await database.query<mysql.RowDataPacket[]>(
    'SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flush, @@pid_file AS file, @@datadir AS folder',
  );
  if (row?.['flush'] !== 1)
    throw new session.Unfit(
      'innodb_flush_log_at_trx_commit must be 1: a commit that is not on disk is no commit.',
    );
  return { version: row['version'], pids: pidIn(path.resolve(row['folder'], row['file'])) };
}

/** Returns a process number only if the file is on this machine and names a running database server. */
function pidIn(file: string): Record<string, number> {
  try {
    const pid = Number(fs.readFileSync(file, 'utf8'));
    return isNamed(pid, /^(mariadbd|mysqld)/) ? { mysql: pid } : {};
  } catch {
    return {};
  }
}

async function describeRedis(redis: Redis): Promise<Server> {
  const info = await redis.info();
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
  const pid = Number(field('process_id'));
  const persistence = field('aof_enabled') === '1' ? 'appendonly' : 'not appendonly';
  const version = `${field('redis_version')}, ${persistence}, hz ${field('configured_hz')}`;
  return { version, pids: isNamed(pid, /^(redis|valkey)/) ? { redis: pid } : {} };
}

/** Looks at all arguments, because the program itself may be the loader that starts the server with its own libraries. */
function isNamed(pid: number, name: RegExp): boolean {
  try {
    const args = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return args.some((arg) => name.test(path.basename(arg)));
  } catch {
    return false;
  }
}
