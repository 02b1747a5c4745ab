import { setTimeout as delay } from 'node:timers/promises';
import type mysql from 'mysql2/promise';
import { type Cast, castOf, numberOf, processTypes, until } from './cast.ts';
import { plainEmail } from './content.ts';
import { apiAt, setUp } from './customer.ts';
import { type Bench, checkEqual, type Run } from './line.ts';
import type { Customer } from './loaders/platform.ts';
import type { Answers, Load } from './players/http-load.ts';
import type { Taken } from './players/smtp-sink.ts';
import type { Received } from './players/webhook-receiver.ts';
import type { Program, Servant } from './program.ts';
import { openWindow, type Usages } from './usage.ts';

/**
 * The whole main job: POST /v2/email, the mail at the SMTP sink, its events numbered, and `email.sent` at the
 * endpoint of a webhook, by the processes that the Procfile names. The load is so high that it uses the whole
 * machine.
 */
export interface Flow {
  loader: Servant;
  cast: Cast;
  /** The API key of the customer who sends. */
  key: string;
  /** Measures from the first request to the last result on disk, then removes the rows that it stored. */
  run: () => Promise<Run>;
  close: () => Promise<void>;
}

const connections = 32;
const variants = 64;
/**
 * The time to warm up one process of each kind. More processes need longer: each gets less of the load, so Node
 * compiles its code later.
 */
const warmMs = 3_000;
const acceptMs = 5_000;

/** Opens the flow. `processes`: the number for each kind that can have several; only one process numbers events. */
export async function openFlow(bench: Bench, name: string, processes: number): Promise<Flow> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, name);
  const [loader, load, sink, receiver] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('players/http-load'),
    cast.servant('players/smtp-sink'),
    cast.servant('players/webhook-receiver'),
  ] as const);
  const { key } = await loader.ask<Customer>('customer');
  const url = `http://127.0.0.1:${await receiver.ask<number>('listen')}/hooks/sent`;
  await setUp(cast, key, (api) => api.post('/v2/webhooks', { body: { url, events: ['email.sent'] } }));
  const smtpUrl = `smtp://127.0.0.1:${await sink.ask<number>('listen')}`;
  const bodies = Array.from({ length: variants }, (_, index) => JSON.stringify(plainEmail(index)));

  async function startAll(): Promise<{ running: Record<string, Program>; ports: number[] }> {
    const running: Record<string, Program> = {};
    const ports: number[] = [];
    for (let index = 0; index < processes; index += 1) {
      const { web, port } = await cast.web({}, `web-${index}`);
      ports.push(port);
      running[`web-${index}`] = web;
      for (const worker of ['worker_email', 'worker_webhooks', ...(index === 0 ? ['worker_events'] : [])])
        running[`${worker}-${index}`] = await cast.platform(processTypes[worker]!, 'workers started', {
          SMTP_URL: smtpUrl,
        });
    }
    return { running, ports };
  }

  /** Sends for `ms` milliseconds, and waits until all the work that follows is done. Returns the number of emails. */
  async function pour(ports: number[], ms: number): Promise<number> {
    const headers = { Authorization: `Bearer ${key}` };
    await sink.ask('reset', []);
    await receiver.ask('reset');
    await load.ask('start', { ports, path: '/v2/email', headers, bodies, connections } satisfies Load);
    await delay(ms);
    const answers = await load.ask<Answers>('stop');
    const accepted = answers['201'] ?? 0;
    checkEqual('answers', answers, { '201': accepted });
    await sink.ask('reach', accepted);
    await receiver.ask('reach', accepted);
    await until('emails and deliveries on their way', 0, () => numberOf(database, onItsWay));
    return accepted;
  }

  async function run(): Promise<Run> {
    const mark = await markOf(database);
    const { running, ports } = await startAll();
    const warm = await pour(ports, warmMs * processes * scale);
    const pids = Object.fromEntries(Object.entries(running).map(([name, { pid }]) => [name, pid]));
    const others = { load: load.pid, sink: sink.pid, receiver: receiver.pid };
    const close = openWindow({ ...pids, ...others, ...world.servers });
    const count = await pour(ports, acceptMs * scale);
    const measured = close();
    const window = { ...measured, usages: byKind(measured.usages) };
    const { messages } = await sink.ask<Taken>('taken');
    const { deliveries, duplicates } = await receiver.ask<Received>('received');
    checkEqual('mails, deliveries and repeated ones', [messages, deliveries, duplicates], [count, count, 0]);
    const stored = [
      "SELECT COUNT(*) FROM emails WHERE id > ? AND status = 'sent' AND claims = 1",
      'SELECT COUNT(*) FROM events WHERE id > ? AND position > 0',
      "SELECT COUNT(*) FROM webhook_deliveries WHERE id > ? AND status = 'delivered' AND attempts = 1",
    ].map((sql) => numberOf(database, sql, [mark]));
    const total = warm + count;
    checkEqual('emails sent once, their events, their deliveries', await Promise.all(stored), [
      total,
      2 * total,
      total,
    ]);
    const newest = await apiAt(ports[0]!, key).get('/v2/email', { query: { limit: 100 } });
    checkEqual('what the customer sees', [...new Set(newest.data.map(({ status }) => status))], ['sent']);
    await Promise.all(Object.values(running).map((program) => program.stop()));
    await forget(database, mark);
    return { count, window, content: 'emails, from request to webhook' };
  }

  return { loader, cast, key, run, close: cast.stopAll };
}

/** Adds up the CPU time of all processes of a kind, and takes the most memory that one of them had. */
function byKind(usages: Usages): Usages {
  const kinds: Usages = {};
  for (const [name, usage] of Object.entries(usages)) {
    const kind = (kinds[name.replace(/-\d+$/, '')] ??= { cpuSeconds: 0, peakMb: 0, ownPeakMb: 0 });
    kind.cpuSeconds += usage.cpuSeconds;
    kind.peakMb = Math.max(kind.peakMb, usage.peakMb);
    kind.ownPeakMb = Math.max(kind.ownPeakMb, usage.ownPeakMb);
  }
  return kinds;
}

/** Returns the highest id so far; ids made from now on are higher. */
async function markOf(database: mysql.Connection): Promise<Buffer> {
  const [[row]] = await database.query<mysql.RowDataPacket[]>(
    'SELECT GREATEST(COALESCE((SELECT MAX(id) FROM emails), 0x00), COALESCE((SELECT MAX(id) FROM events), 0x00)) AS mark',
  );
  return row?.['mark'];
}

const onItsWay = `SELECT (SELECT COUNT(*) FROM emails WHERE status = 'queued')
  + (SELECT COUNT(*) FROM webhook_deliveries FORCE INDEX (webhook_deliveries_admission)
     WHERE status = 'pending' AND parked = 0)`;

async function forget(database: mysql.Connection, mark: Buffer): Promise<void> {
  for (const table of ['emails', 'events', 'webhook_deliveries'])
    await database.query(`DELETE FROM ${table} WHERE id > ?`, [mark]);
}
