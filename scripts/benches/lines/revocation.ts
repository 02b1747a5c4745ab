import { setTimeout as delay } from 'node:timers/promises';
import { type Client, Refusal } from 'messaging-service/client';
import { castOf } from '../cast.ts';
import { apiAt } from '../customer.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import { latencyOf } from '../statistics.ts';
import { openWindow } from '../usage.ts';

const revocations = 200;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'revocation');
  const loader = await cast.servant('loaders/platform');
  const { key: own } = await loader.ask<Customer>('customer');

  async function run(): Promise<Run> {
    await world.clear();
    // With this cache time, a process forgets a key only after a message about it. Each revocation ends with a refusal,
    // and all refusals go to one address, so their limit is off.
    const settings = { KEY_CACHE_SECONDS: '3600', AUTH_FAILURES_PER_MINUTE: '0' };
    const [here, there] = [await cast.web(settings, 'web-1'), await cast.web(settings, 'web-2')];
    const api = apiAt(here.port, own);
    const revoke = async (): Promise<number> => {
      const { id, key } = await api.post('/v2/api-keys', { body: {} });
      const other = apiAt(there.port, key!);
      checkEqual('the key works at the other process', await isKnown(other), true);
      await api.delete('/v2/api-keys/{id}', { path: { id } });
      const revokedAt = performance.now();
      while (await isKnown(other)) await delay(1);
      return performance.now() - revokedAt;
    };
    const count = Math.max(20, Math.round(revocations * scale));
    for (let warm = 0; warm < 20; warm += 1) await revoke();
    const close = openWindow({ one: here.web.pid, other: there.web.pid, ...world.servers });
    const waits: number[] = [];
    for (let made = 0; made < count; made += 1) waits.push(await revoke());
    const window = close();
    await Promise.all([here.web.stop(), there.web.stop()]);
    return {
      count,
      window,
      latency: latencyOf(waits),
      figures: { 'longest ms': Math.max(...waits) },
      content: `${count} keys, one after the other`,
    };
  }
  return {
    sides: [{ name: 'platform', title: 'two web processes', run }],
    close: cast.stopAll,
  };
}

/** Whether the API knows the key of this client. */
async function isKnown(api: Client): Promise<boolean> {
  try {
    await api.get('/v2/email', { query: { limit: 1 } });
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return false;
    throw error;
  }
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
