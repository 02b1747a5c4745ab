import { setTimeout as delay } from 'node:timers/promises';
import { castOf, numberOf, until } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, type Side } from '../line.ts';
import { percentile } from '../statistics.ts';
import { openWindow } from '../usage.ts';

const backlog = 100_000;
/** Single texts of another customer, at a steady pace; the backlog lasts longer. */
const singles = 400;
const everyMs = 25;
const warm = 20;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'sms-isolation');
  const [bulk, loader] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('loaders/platform'),
  ] as const);
  await bulk.ask('customer');
  await loader.ask('customer');
  const count = Math.max(50, Math.round(singles * scale));
  const waiting = isBulk(true);
  const ask = (sql: string) => numberOf(database, sql);
  const sent = () => ask(`SELECT COUNT(*) FROM sms_messages WHERE ${isBulk(false)} AND status = 'sent'`);

  async function run(isBusy: boolean): Promise<Run> {
    await world.clear();
    if (isBusy) await bulk.ask('storeTexts', { first: 0, count: Math.round(backlog * scale) });
    const worker = await cast.platform(['workers/main.ts', 'send-sms', 'sweep'], 'workers started');
    // Until both are warm.
    for (let index = 0; index < warm; index += 1) {
      await loader.ask('acceptText', `warm-${index}`);
      await delay(everyMs);
    }
    await until('single texts', warm, sent);
    if (isBusy)
      await until('whether the backlog goes out', 1, async () =>
        Number((await ask(`SELECT COUNT(*) FROM sms_messages WHERE ${waiting} AND status = 'sent'`)) > 0),
      );
    const close = openWindow({ worker: worker.pid, ...world.servers });
    for (let index = 0; index < count; index += 1) {
      await loader.ask('acceptText', String(index));
      await delay(everyMs);
    }
    await until('single texts', warm + count, sent);
    const window = close();
    if (isBusy) {
      const left = await ask(`SELECT COUNT(*) FROM sms_messages WHERE ${waiting} AND status = 'queued'`);
      checkEqual('whether the backlog lasted', left > 0, true);
    }
    const [rows] = await database.query(
      `SELECT client_reference AS reference, sent_at AS sentAt FROM sms_messages
       WHERE ${isBulk(false)} AND client_reference NOT LIKE '%-warm-%'`,
    );
    const latencies = (rows as { reference: Buffer; sentAt: Date }[]).map(
      ({ reference, sentAt }) => sentAt.getTime() - Number(reference.toString().split('-')[1]),
    );
    const sorted = Float64Array.from(latencies).toSorted();
    await worker.stop();
    checkEqual('single texts', sorted.length, count);
    return {
      count,
      window,
      latency: { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) },
      content: `${count} texts`,
    };
  }

  const side = (name: string, title: string, isBusy: boolean): Side => ({
    name,
    title,
    run: () => run(isBusy),
  });
  return {
    sides: [
      side('platform', `single texts beside ${Math.round(backlog * scale)} of the batches of another`, true),
      side('idle', 'the single texts alone', false),
    ],
    close: cast.stopAll,
  };
}

/** SQL: a text of the backlog, or of the other customer. */
const isBulk = (wanted: boolean): string => `lane ${wanted ? '=' : '<>'} 'bulk'`;

export const smsIsolation: Line = {
  name: 'sms-isolation',
  title: 'single texts of one workspace while another has a backlog of batches, one worker',
  unit: 'texts',
  targets: { idle: 0.75 },
  comparedBy: 'p50',
  notes: [
    `p50 and p99 are from the call that accepts to the time at which the gateway took it, at ${1000 / everyMs} texts/s.`,
    'Target: p99 within twice that of the idle system. The rate is what the pace and both waits come to.',
  ],
  open,
};
