import { setTimeout as delay } from 'node:timers/promises';
import * as kept from '../../setup/kept.ts';
import { castOf } from '../cast.ts';
import { setUp } from '../customer.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, side } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Arrived } from '../players/webhook-endpoints.ts';
import type { Program } from '../program.ts';
import { openWindow } from '../usage.ts';

const healthy = 85;
const hanging = 10;
const refusing = 5;
/** The run begins with a steady pace, to measure the latency. This phase lasts longer than a request can hang. */
const paceMs = 15_000;
const everyMs = 200;
const eventsAtOnce = 1;
/** Then the run sends many events at once, to measure the rate. */
const burst = 250;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'webhook-isolation');
  const [loader, endpoints] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('players/webhook-endpoints'),
  ] as const);
  const [served, nobody] = [await endpoints.ask<number>('listen'), await kept.port(world.folder, 'nobody')];
  // A host for each: webhooks that lead to one origin share its slots.
  const urlOf = (kind: string, index: number, port = served) =>
    `http://${kind}-${index}.localhost:${port}/${kind}/${index}`;
  const { key } = await loader.ask<Customer>('customer');
  const places = (count: number) => Array.from({ length: count }, (_, index) => index);
  const bad = [
    ...places(hanging).map((index) => urlOf('hang', index)),
    ...places(refusing).map((index) => urlOf('refuse', index, nobody)),
  ];
  await setUp(cast, key, async (api) => {
    const add = (url: string) => api.post('/v2/webhooks', { body: { url, events: ['email.queued'] } });
    // The bad webhooks are mixed with the others, as in real use.
    for (const index of places(healthy)) {
      await add(urlOf('ok', index));
      const url = bad[index / 5];
      if (url) await add(url);
    }
  });

  /** Starts the workers. The bad webhooks subscribe to the events, or to an event that never happens. */
  async function begin(withBad: boolean): Promise<Program[]> {
    await world.clear();
    await database.query(
      `UPDATE webhooks SET events = IF(? OR url LIKE '%/ok/%', '["email.queued"]', '["sms.received"]'), active = 1,
         auto_disabled = 0, failing_since = NULL, consecutive_failures = 0, last_failed_at = NULL, recovered_at = NULL,
         paused_until = NULL`,
      [withBad],
    );
    await endpoints.ask('reset');
    const jobs = ['relay-events', 'sweep', 'webhook-health', 'settle-webhook', 'deliver-webhook'];
    return Promise.all([cast.workers(jobs), cast.workers(['deliver-webhook'])]);
  }

  async function run(withBad: boolean): Promise<Run> {
    const workers = await begin(withBad);
    const steps = Math.max(10, Math.round((paceMs * scale) / everyMs));
    for (let step = 0; step < steps; step += 1) {
      await loader.ask('storeNow', eventsAtOnce);
      await delay(everyMs);
    }
    const paced = steps * eventsAtOnce * healthy;
    await endpoints.ask('reach', paced);
    const { p50Ms, p99Ms, deliveries, duplicates } = await endpoints.ask<Arrived>('arrived');
    checkEqual('deliveries at a steady pace, and repeated ones', [deliveries, duplicates], [paced, 0]);

    const events = Math.max(20, Math.round(burst * scale));
    await endpoints.ask('reset');
    const pids = Object.fromEntries(workers.map(({ pid }, index) => [`worker-${index}`, pid]));
    const close = openWindow({ ...pids, endpoints: endpoints.pid, ...world.servers });
    await loader.ask('storeNow', events);
    await endpoints.ask('reach', events * healthy);
    const window = close();
    const burstArrived = await endpoints.ask<Arrived>('arrived');
    checkEqual('deliveries of the burst, and repeated ones', burstArrived.duplicates, 0);
    await Promise.all(workers.map((worker) => worker.stop()));
    const content = `${deliveries} and ${burstArrived.deliveries} deliveries to ${healthy} webhooks`;
    return { count: events * healthy, window, latency: { p50Ms, p99Ms }, content };
  }

  return {
    sides: [
      side(
        'platform',
        `${healthy} healthy webhooks beside ${hanging} that hang and ${refusing} that refuse`,
        () => run(true),
      ),
      side('all-well', `the ${healthy} alone`, () => run(false)),
    ],
    close: cast.stopAll,
  };
}

export const webhookIsolation: Line = {
  name: 'webhook-isolation',
  title: 'deliveries to healthy webhooks while others hang or refuse, two worker processes',
  unit: 'deliveries',
  targets: { 'all-well': 0.9 },
  p99AtMost: { 'all-well': 2 },
  notes: [
    `The rate is of ${burst} events at once to all webhooks; only what arrives at the healthy ones counts.`,
    `p50 and p99 are from event to arrival at a pace of ${(1000 / everyMs) * eventsAtOnce} events/s, ${(1000 / everyMs) * eventsAtOnce * (healthy + hanging + refusing)} deliveries/s.`,
  ],
  open,
};
