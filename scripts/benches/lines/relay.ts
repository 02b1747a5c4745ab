import path from 'node:path';
import type mysql from 'mysql2/promise';
import { type Backlog, drain } from '../backlog.ts';
import { castOf, numberOf, until } from '../cast.ts';
import { setUp } from '../customer.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import { idOf, multiply } from '../many-rows.ts';
import type { Servant } from '../program.ts';

const warm = 10_000;
const events = 40_000;
const keptEvents = 300_000;
const webhooks = 2;
const bareBatch = 1_000;
/** The platform's defaults: deliveries of one webhook that may be in Redis at a time, and deliveries in one job. */
const deliveriesInRedis = 500;
const deliveriesOfJob = 10;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'relay');
  const loader = await cast.servant('loaders/platform');
  const { key } = await loader.ask<Customer>('customer');
  await setUp(cast, key, async (api) => {
    // No worker delivers here, so nothing needs to listen at these addresses.
    for (let index = 0; index < webhooks; index += 1)
      await api.post('/v2/webhooks', {
        body: { url: `http://127.0.0.1:9/${index}`, events: ['email.queued'] },
      });
  });
  const inBatches = (count: number) => Math.max(1, Math.round((count * scale) / bareBatch)) * bareBatch;
  const sizes = { warm: inBatches(warm), count: inBatches(events) };
  const total = sizes.warm + sizes.count;
  await loader.ask('prepareEvents', { count: total, file: path.join(world.folder, 'relay.bodies') });

  async function run(backlog: Backlog, numbered: string, fannedOut: string, beside = 0): Promise<Run> {
    await world.clear();
    if (beside > 0) await keep(beside);
    const window = await drain(backlog, { ...sizes, others: world.servers });
    const counts = [
      await numberOf(database, `SELECT COUNT(DISTINCT position) FROM ${numbered}`),
      await numberOf(database, `SELECT MAX(position) FROM ${numbered}`),
      await numberOf(database, `SELECT COUNT(DISTINCT webhook_id, event_id) FROM ${fannedOut}`),
    ];
    checkEqual('positions, the last of them, deliveries', counts, [
      beside + total,
      beside + total,
      webhooks * total,
    ]);
    return { count: sizes.count, window, content: `${total} ${webhooks * total}` };
  }

  /** Stores events that were relayed long ago. */
  async function keep(count: number): Promise<void> {
    await loader.ask('storeEvents', { first: 0, count: 1 });
    const [[row]] = await database.query<mysql.RowDataPacket[]>('SELECT id FROM events');
    const one = { table: 'events', id: row!['id'] as Buffer };
    await multiply(database, one, count, { id: idOf('1'), record_id: idOf('2'), position: 'n + 1' });
    await database.query('DELETE FROM events WHERE id = ?', [one.id]);
    await database.query("UPDATE counters SET value = ? WHERE name = 'events.position'", [count]);
    await database.query('ANALYZE TABLE events');
  }

  const platformBeside = (beside: number): Backlog => ({
    start: () => cast.workers(['relay-events']),
    hold: async () => undefined,
    load: (first, count) => loader.ask('storeEvents', { first, count }),
    release: () => loader.ask('wakeRelay'),
    finished: async (count) => {
      await until('events numbered', beside + count, () =>
        numberOf(database, "SELECT value FROM counters WHERE name = 'events.position'"),
      );
      const jobs = webhooks * Math.ceil(Math.min(count, deliveriesInRedis) / deliveriesOfJob);
      await until('jobs of deliveries', jobs, () => world.jobs('deliver-webhook'));
    },
  });
  const platform = (beside: number) => () =>
    run(platformBeside(beside), 'events', 'webhook_deliveries', beside);
  const many = Math.round(keptEvents * scale);

  let worker: Servant;
  let loaded = { first: 0, count: 0 };
  let relayed: Promise<void>;
  const bare: Backlog = {
    start: async () => (worker = await cast.servant('bare/relay')),
    hold: async () => undefined,
    load: async (first, count) => {
      loaded = { first: first + 1, count };
      for (let id = loaded.first; id < loaded.first + count; id += bareBatch)
        await database.query('INSERT INTO bare_numbered (id, data) VALUES ?', [
          Array.from({ length: bareBatch }, (_, index) => [id + index, 'x'.repeat(600)]),
        ]);
    },
    release: async () => {
      relayed = worker.ask('relayAll', loaded);
    },
    finished: () => relayed,
  };

  return {
    sides: [
      {
        name: 'platform',
        title: `one worker: relay-events, beside ${many} events that are kept`,
        run: platform(many),
      },
      { name: 'empty', title: 'the same beside none', run: platform(0) },
      {
        name: 'bare',
        title: 'two multi-row inserts and an update for each thousand events',
        run: () => run(bare, 'bare_numbered', 'bare_fanned_out'),
      },
    ],
    close: cast.stopAll,
  };
}

export const relay: Line = {
  name: 'relay',
  title: 'event numbered and fanned out to two webhooks',
  unit: 'events',
  targets: { empty: 0.8 },
  notes: [
    'The platform also puts jobs into Redis, as many as a webhook has room for. Target: 15,000 events/s.',
  ],
  open,
};
