import { setTimeout as delay } from 'node:timers/promises';
import { castOf } from '../cast.ts';
import { setUp } from '../customer.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Arrived } from '../players/webhook-endpoints.ts';
import { openWindow } from '../usage.ts';

const events = 200;
const betweenMs = 50;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'latency-webhook');
  const [loader, endpoints] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('players/webhook-endpoints'),
  ] as const);
  const { key } = await loader.ask<Customer>('customer');
  const origin = `http://127.0.0.1:${await endpoints.ask<number>('listen')}`;
  await setUp(cast, key, (api) =>
    api.post('/v2/webhooks', { body: { url: `${origin}/ok/0`, events: ['email.queued'] } }),
  );

  async function run(): Promise<Run> {
    await world.clear();
    const worker = await cast.workers([]);
    const count = Math.max(20, Math.round(events * scale));
    const oneByOne = async (times: number) => {
      await endpoints.ask('reset');
      for (let made = 1; made <= times; made += 1) {
        await loader.ask('storeNow', 1);
        await endpoints.ask('reach', made);
        await delay(betweenMs);
      }
    };
    await oneByOne(20);
    const close = openWindow({ worker: worker.pid, endpoints: endpoints.pid, ...world.servers });
    await oneByOne(count);
    const window = close();
    const { p50Ms, p99Ms, deliveries, duplicates } = await endpoints.ask<Arrived>('arrived');
    checkEqual('deliveries, and repeated ones', [deliveries, duplicates], [count, 0]);
    await worker.stop();
    return {
      count,
      window,
      latency: { p50Ms, p99Ms },
      figures: { 'commit to endpoint p50 ms': p50Ms },
      content: `${count} deliveries, one after the other`,
    };
  }
  return {
    sides: [{ name: 'platform', title: 'one worker with all jobs and nothing else to do', run }],
    close: cast.stopAll,
  };
}

export const latencyWebhook: Line = {
  name: 'latency-webhook',
  title: 'from a committed event to its arrival at the endpoint, idle system',
  unit: 'deliveries',
  targets: {},
  atMost: { 'commit to endpoint p50 ms': 30 },
  comparedBy: 'p50',
  notes: [`An event every ${betweenMs} ms after the last one has arrived.`],
  open,
};
