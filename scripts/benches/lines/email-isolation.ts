import { atPace, castOf, numberOf } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, side } from '../line.ts';
import type { Timed } from '../players/smtp-sink.ts';
import { openWindow } from '../usage.ts';

const backlog = 20_000;
/** One-time codes of another customer, at a steady pace; the backlog lasts longer. */
const codes = 400;
const everyMs = 25;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'email-isolation');
  const [bulk, loader, sink] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('loaders/platform'),
    cast.servant('players/smtp-sink'),
  ] as const);
  const settings = { SMTP_URL: `smtp://127.0.0.1:${await sink.ask<number>('listen')}` };
  await bulk.ask('customer');
  await loader.ask('customer');
  const count = Math.max(50, Math.round(codes * scale));

  async function run(isBusy: boolean): Promise<Run> {
    await world.clear();
    await sink.ask('reset', []);
    const emails = isBusy ? Math.round(backlog * scale) : 0;
    await bulk.ask('pause', 'send-email-marketing');
    await bulk.ask('acceptMarketing', { first: 0, count: emails });
    const worker = await cast.workers(['send-email', 'sweep'], settings);
    await bulk.ask('resume', 'send-email-marketing');
    // Warms up the worker and the sink.
    await atPace(20, everyMs, (index) => loader.ask('acceptCode', `warm-${index}`));
    await sink.ask('reachTimed', 20);
    await sink.ask('resetTimed');
    const close = openWindow({ worker: worker.pid, sink: sink.pid, ...world.servers });
    await atPace(count, everyMs, (index) => loader.ask('acceptCode', String(index)));
    await sink.ask('reachTimed', count);
    const window = close();
    const left = await numberOf(
      database,
      "SELECT COUNT(*) FROM emails WHERE status = 'queued' AND kind = 'marketing'",
    );
    if (isBusy) checkEqual('whether the backlog lasted', left > 0, true);
    const { p50Ms, p99Ms, codes: arrived, duplicates } = await sink.ask<Timed>('timed');
    checkEqual('codes that arrived, and repeated ones', [arrived, duplicates], [count, 0]);
    await worker.stop();
    return { count, window, latency: { p50Ms, p99Ms }, content: `${count} codes` };
  }

  return {
    sides: [
      side(
        'platform',
        `one-time codes beside ${Math.round(backlog * scale)} marketing emails of another`,
        () => run(true),
      ),
      side('idle', 'the codes alone', () => run(false)),
    ],
    close: cast.stopAll,
  };
}

export const emailIsolation: Line = {
  name: 'email-isolation',
  title: 'one-time codes of one workspace while another has a backlog of marketing, one worker',
  unit: 'codes',
  targets: { idle: 0.75 },
  p99AtMost: { idle: 2 },
  comparedBy: 'p50',
  notes: [
    `p50 and p99 are from the call that accepts to the sink, at ${1000 / everyMs} codes/s.`,
    'The rate is what the pace and both waits come to; the backlog goes out all the while, in the same worker.',
  ],
  open,
};
