import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type mysql from 'mysql2/promise';
import { castOf, numberOf } from '../cast.ts';
import { setUp } from '../customer.ts';
import { type Bench, checkEqual, type Line, Mismatch, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import { numbers, rowsAtOnce } from '../many-rows.ts';
import type { Arrived } from '../players/webhook-endpoints.ts';
import { openWindow } from '../usage.ts';

const backlog = 1_000_000;
const healthy = 10;
const burst = 2_000;
const settleMs = 6_000;
const drainMs = 40_000;
const mostRedisMb = 50;
/** Deliveries that were admitted together may arrive in any order. */
const jobsPerWebhook = 500;

/** Ids later than all ids that are made during the run. */
const idOf = (kind: string) => `UNHEX(RPAD(LPAD(HEX(1900000000000 + n), 12, '0'), 32, '${kind}'))`;

type Drained = { id: string; atMs: number }[];

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'webhook-backlog');
  const [loader, endpoints] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('players/webhook-endpoints'),
  ] as const);
  const redis = new Redis(world.settings['REDIS_URL']!);
  const port = await endpoints.ask<number>('listen');
  // A host for each: webhooks that lead to one origin share its slots.
  const urlOf = (kind: string, index: number) => `http://${kind}-${index}.localhost:${port}/${kind}/${index}`;
  const { key } = await loader.ask<Customer>('customer');
  await setUp(cast, key, async (api) => {
    for (let index = 0; index < healthy; index += 1)
      await api.post('/v2/webhooks', { body: { url: urlOf('ok', index), events: ['email.queued'] } });
    await api.post('/v2/webhooks', { body: { url: urlOf('dead', 0), events: ['email.sent'] } });
  });
  await world.clear();
  const total = Math.max(1, Math.round((backlog * scale) / rowsAtOnce)) * rowsAtOnce;
  await fill(database, total);
  await database.query('CREATE TABLE empty_deliveries LIKE webhook_deliveries');

  const usedMb = async () => {
    const [, bytes = '0'] = /used_memory:(\d+)/.exec(await redis.info('memory')) ?? [];
    return Number(bytes) / 2 ** 20;
  };
  const say = (text: string) => process.stderr.write(`webhook-backlog: ${text}\n`);

  /** Marks the webhook as after an hour of nothing but failures. */
  const markDead = () =>
    database.query(
      `UPDATE webhooks SET active = 1, auto_disabled = 0, paused_until = NULL, recovered_at = NULL,
         failing_since = IF(url LIKE '%/dead/%', UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, NULL),
         last_failed_at = IF(url LIKE '%/dead/%', UTC_TIMESTAMP(3), NULL),
         consecutive_failures = IF(url LIKE '%/dead/%', 1000, 0)`,
    );
  const start = () =>
    cast.workers(['relay-events', 'sweep', 'webhook-health', 'settle-webhook', 'deliver-webhook']);
  const swap = () =>
    database.query(
      'RENAME TABLE webhook_deliveries TO aside, empty_deliveries TO webhook_deliveries, aside TO empty_deliveries',
    );

  async function run(): Promise<Run> {
    await markDead();
    await endpoints.ask('reset');
    await endpoints.ask('revive', false);
    const worker = await start();
    // By then the sweep has run a few times, and the few deliveries that try the endpoint have been tried.
    await delay(settleMs);
    const close = openWindow({ worker: worker.pid, endpoints: endpoints.pid, ...world.servers });
    await loader.ask('storeNow', burst);
    await endpoints.ask('reach', burst * healthy);
    const window = close();
    const { p50Ms, p99Ms, deliveries, duplicates } = await endpoints.ask<Arrived>('arrived');
    checkEqual('deliveries, and repeated ones', [deliveries, duplicates], [burst * healthy, 0]);
    await worker.stop();
    await database.query("DELETE FROM webhook_deliveries WHERE event_type = 'email.queued'");
    const content = `${deliveries} deliveries to ${healthy} webhooks`;
    return { count: deliveries, window, latency: { p50Ms, p99Ms }, content };
  }

  let isDrained = false;

  async function platform(): Promise<Run> {
    const before = await usedMb();
    const result = await run();
    const mb = (await usedMb()) - before;
    say(`${total} deliveries wait; Redis took ${mb.toFixed(1)} MB for all there was in the run`);
    if (mb > mostRedisMb) throw new Mismatch(`Redis took ${mb.toFixed(1)} MB; ${mostRedisMb} are the most`);
    return result;
  }

  async function withoutBacklog(): Promise<Run> {
    await swap();
    try {
      return await run();
    } finally {
      await swap();
    }
  }

  /** Makes the endpoint work again and records when each delivery arrives, to check that the oldest due come first. */
  async function drain(): Promise<void> {
    if (isDrained) return;
    isDrained = true;
    await markDead();
    // Parks the deliveries that were tried in the meantime too, so that all of them wait.
    await database.query('UPDATE webhook_deliveries SET parked = 1 WHERE parked = 0');
    const [due] = await database.query<mysql.RowDataPacket[]>(
      "SELECT id FROM webhook_deliveries WHERE status = 'pending' ORDER BY due_at LIMIT 400000",
    );
    const places = new Map(due.map((row, place) => [String(row['id'].toString('hex')), place]));
    await endpoints.ask('reset');
    await endpoints.ask('revive', true);
    const worker = await start();
    const startedAt = Date.now();
    const most = await mostInRedis(Math.round(drainMs * Math.max(scale, 0.25)));
    await worker.stop();
    const drained = await endpoints.ask<Drained>('drained');
    const first = drained[0]?.atMs ?? 0;
    const perFive = Map.groupBy(drained, ({ atMs }) => Math.floor((atMs - first) / 5_000));
    const rates = [...perFive].toSorted(([a], [b]) => a - b).map(([, some]) => Math.round(some.length / 5));
    const order = await database.query<mysql.RowDataPacket[]>(
      "SELECT id FROM webhook_deliveries WHERE status = 'delivered' AND event_type = 'email.sent' ORDER BY completed_at, due_at",
    );
    const furthest = order[0].reduce(
      (most, row, index) =>
        Math.max(most, Math.abs((places.get(row['id'].toString('hex')) ?? index) - index)),
      0,
    );
    say(
      `back for ${Math.round((Date.now() - startedAt) / 1000)} s: ${drained.length} delivered, per second in every 5 s: ${rates.join(' ')}`,
    );
    say(`at most ${most} in Redis; nothing arrived more than ${furthest} places from its place by due time`);
    if (furthest > 3 * jobsPerWebhook) throw new Mismatch(`${furthest} places out of order`);
  }

  async function mostInRedis(forMs: number): Promise<number> {
    let most = 0;
    for (const since = Date.now(); Date.now() - since < forMs; await delay(500))
      most = Math.max(
        most,
        await numberOf(
          database,
          "SELECT COUNT(*) FROM webhook_deliveries FORCE INDEX (webhook_deliveries_admission) WHERE status = 'pending' AND parked = 0",
        ),
      );
    return most;
  }

  return {
    sides: [
      {
        name: 'platform',
        title: `10 healthy webhooks beside a dead one that ${total} deliveries wait for`,
        run: platform,
      },
      { name: 'no-backlog', title: 'the same without those', run: withoutBacklog },
    ],
    close: async () => {
      try {
        await drain();
      } finally {
        redis.disconnect();
        await cast.stopAll();
      }
    },
  };
}

/**
 * Inserts events, each with a delivery to the dead webhook. The first was due an hour ago, and each further one a
 * millisecond after the one before.
 */
async function fill(database: mysql.Connection, total: number): Promise<void> {
  for (let done = 0; done < total; done += rowsAtOnce) {
    await database.query(
      `INSERT INTO events (id, workspace_id, position, type, record_id, record_seq, occurred_at, data)
       SELECT ${idOf('1')}, w.workspace_id, n + 1, 'email.sent', ${idOf('2')}, 1, UTC_TIMESTAMP(3), '{"note":"waits"}'
       FROM ${numbers}, webhooks w WHERE w.url LIKE '%/dead/%'`,
      [done],
    );
    await database.query(
      `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, event_type, status, due_at, parked, created_at)
       SELECT ${idOf('3')}, w.workspace_id, w.id, ${idOf('1')}, 'email.sent', 'pending',
         UTC_TIMESTAMP(3) - INTERVAL 1 HOUR + INTERVAL n * 1000 MICROSECOND, 1, UTC_TIMESTAMP(3)
       FROM ${numbers}, webhooks w WHERE w.url LIKE '%/dead/%'`,
      [done],
    );
  }
  await database.query("UPDATE counters SET value = ? WHERE name = 'events.position'", [total]);
  await database.query('ANALYZE TABLE events, webhook_deliveries');
}

export const webhookBacklog: Line = {
  name: 'webhook-backlog',
  title: 'deliveries to healthy webhooks beside a dead one with a million waiting',
  unit: 'deliveries',
  targets: { 'no-backlog': 0.9 },
  notes: [
    'One worker process with all jobs. When all has been measured the dead webhook comes back; what then arrives is said',
    'while it runs. Filling the tables takes minutes: --scale 0.1 for a look.',
  ],
  open,
};
