import { setTimeout as delay } from 'node:timers/promises';
import { Agent } from 'undici';
import * as kept from '../../setup/kept.ts';
import { castOf } from '../cast.ts';
import { plainEmail } from '../content.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Timed } from '../players/smtp-sink.ts';
import { percentile } from '../statistics.ts';
import { openWindow } from '../usage.ts';

const emails = 200;
const betweenMs = 40;
/**
 * Sent one after the other without a pause, because we measure a system at rest that has been running for some time.
 */
const warm = 1_000;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'latency-email');
  const [loader, sink] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('players/smtp-sink'),
  ] as const);
  const { key } = await loader.ask<Customer>('customer');
  const smtpUrl = `smtp://127.0.0.1:${await sink.ask<number>('listen')}`;
  const agent = new Agent();

  /** Returns the milliseconds until the answer. The address tells the sink when the email was requested. */
  async function send(port: number, name: string): Promise<number> {
    const startedAt = performance.now();
    const recipient = `at-${performance.timeOrigin + startedAt}-${name}@inbox.example`;
    const { statusCode, body } = await agent.request({
      origin: `http://127.0.0.1:${port}`,
      path: '/v2/email',
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...plainEmail(0), recipient }),
    });
    await body.dump();
    checkEqual('answer', statusCode, 201);
    return performance.now() - startedAt;
  }

  async function run(): Promise<Run> {
    await world.clear();
    await sink.ask('reset', []);
    const port = await kept.port(world.folder, 'web');
    const web = await cast.platform(['api/server.ts'], 'web started', {
      PORT: String(port),
      BIND_ADDRESS: '127.0.0.1',
    });
    const worker = await cast.workers(['send-email', 'sweep'], {
      SMTP_URL: smtpUrl,
    });
    const count = Math.max(20, Math.round(emails * scale));
    const oneByOne = async (times: number, name: string, pauseMs: number) => {
      await sink.ask('resetTimed');
      const answered: number[] = [];
      for (let sent = 1; sent <= times; sent += 1) {
        answered.push(await send(port, `${name}-${sent}`));
        await sink.ask('reachTimed', sent);
        await delay(pauseMs);
      }
      return Float64Array.from(answered).toSorted();
    };
    await oneByOne(Math.round(warm * Math.min(1, scale)), 'warm', 0);
    const close = openWindow({ web: web.pid, worker: worker.pid, sink: sink.pid, ...world.servers });
    const answered = await oneByOne(count, 'measured', betweenMs);
    const window = close();
    const { p50Ms, p99Ms, codes: arrived, duplicates } = await sink.ask<Timed>('timed');
    checkEqual('emails, and repeated ones', [arrived, duplicates], [count, 0]);
    await Promise.all([web.stop(), worker.stop()]);
    return {
      count,
      window,
      latency: { p50Ms, p99Ms },
      figures: {
        'accept p50 ms': percentile(answered, 0.5),
        'accept p99 ms': percentile(answered, 0.99),
        'request to sink p50 ms': p50Ms,
      },
      content: `${count} emails, one after the other`,
    };
  }
  return {
    sides: [{ name: 'platform', title: 'one web process, one worker, nothing else to do', run }],
    close: async () => {
      await agent.close();
      await cast.stopAll();
    },
  };
}

export const latencyEmail: Line = {
  name: 'latency-email',
  title: 'POST /v2/email to its answer, and to the SMTP sink, idle system',
  unit: 'emails',
  targets: {},
  atMost: { 'accept p50 ms': 5, 'request to sink p50 ms': 30 },
  comparedBy: 'p50',
  notes: [
    `An email every ${betweenMs} ms after the last one has arrived; p50 and p99 are from the request to the sink.`,
  ],
  open,
};
