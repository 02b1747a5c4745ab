import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { castOf } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import { percentile } from '../statistics.ts';
import { openWindow } from '../usage.ts';

const revocations = 200;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'revocation');
  const loader = await cast.servant('loaders/platform');
  const { key: own } = await loader.ask<Customer>('customer');
  const agent = new Agent();

  async function ask(port: number, key: string, method: 'GET' | 'POST' | 'DELETE', path: string) {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/v2/${path}`, {
      dispatcher: agent,
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: '{}' }),
    });
    return { status: statusCode, text: await body.text() };
  }

  async function run(): Promise<Run> {
    await world.clear();
    // A process forgets a key only because it is told.
    const settings = { KEY_CACHE_SECONDS: '3600' };
    const [here, there] = [await cast.web(settings, 'web-1'), await cast.web(settings, 'web-2')];
    const revoke = async (): Promise<number> => {
      const made = await ask(here.port, own, 'POST', 'api-keys');
      checkEqual('answer', made.status, 201);
      const { id, key } = JSON.parse(made.text) as { id: string; key: string };
      const isKnown = async () => (await ask(there.port, key, 'GET', 'email?limit=1')).status === 200;
      checkEqual('the key works at the other process', await isKnown(), true);
      checkEqual('answer', (await ask(here.port, own, 'DELETE', `api-keys/${id}`)).status, 204);
      const revokedAt = performance.now();
      while (await isKnown()) await delay(1);
      return performance.now() - revokedAt;
    };
    const count = Math.max(20, Math.round(revocations * scale));
    for (let warm = 0; warm < 20; warm += 1) await revoke();
    const close = openWindow({ one: here.web.pid, other: there.web.pid, ...world.servers });
    const waits: number[] = [];
    for (let made = 0; made < count; made += 1) waits.push(await revoke());
    const window = close();
    await Promise.all([here.web.stop(), there.web.stop()]);
    const sorted = waits.toSorted((one, other) => one - other);
    return {
      count,
      window,
      latency: { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) },
      figures: { 'longest ms': sorted.at(-1)! },
      content: `${count} keys, one after the other`,
    };
  }
  return {
    sides: [{ name: 'platform', title: 'two web processes', run }],
    close: async () => {
      await cast.stopAll();
      await agent.close();
    },
  };
}

export const revocation: Line = {
  name: 'revocation',
  title: 'from the answer that a key is deleted at one process to its refusal by another',
  unit: 'keys',
  targets: {},
  atMost: { 'longest ms': 1_000 },
  notes: ['The other process remembers keys for an hour, and asks nobody about one that it remembers'],
  open,
};
