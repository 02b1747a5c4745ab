import { setTimeout as delay } from 'node:timers/promises';
import { type Backlog, drain } from '../backlog.ts';
import type { CarrierSettings } from '../bare/smpp-out.ts';
import { castOf, numberOf, until } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, type Side } from '../line.ts';
import type { TakenTexts, TimedTexts } from '../players/smsc.ts';
import type { Servant } from '../program.ts';

const warm = 600;
const texts = 6_000;
const window = 50;
/** Sent one after the other, on a system without other load. */
const timed = 100;
const warmTimed = 100;
const betweenMs = 40;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'smpp-out');
  const [loader, filler, smsc] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('loaders/bare'),
    cast.servant('players/smsc'),
  ] as const);
  await loader.ask('customer');
  const port = await smsc.ask<number>('listen');
  const sizes = { warm: Math.round(warm * scale), count: Math.round(texts * scale) };
  const total = sizes.warm + sizes.count;
  const ask = (sql: string) => numberOf(database, sql);
  const startWorker = () =>
    cast.workers(['send-sms'], {
      SMS_GATEWAYS: JSON.stringify([
        { name: 'bench', type: 'smpp', url: `smpp://platform:secret@127.0.0.1:${port}`, window },
      ]),
    });

  async function run(backlog: Backlog, ended: string): Promise<Run> {
    await world.clear();
    await smsc.ask('reset');
    const used = await drain(backlog, { ...sizes, others: { smsc: smsc.pid, ...world.servers } });
    const { texts: taken, repeated } = await smsc.ask<TakenTexts>('taken');
    checkEqual(
      'texts at the carrier, repeated ones, and those with result and receipt',
      [taken, repeated, await ask(ended)],
      [total, 0, total],
    );
    return { count: sizes.count, window: used, content: `${total} texts` };
  }

  /** Measures from the call that accepts a text to its submit_sm. */
  async function latency(): Promise<TimedTexts> {
    await world.clear();
    const worker = await startWorker();
    const oneByOne = async (times: number, pauseMs: number) => {
      await smsc.ask('reset');
      for (let index = 1; index <= times; index += 1) {
        await loader.ask('acceptTimedText', String(index));
        await until('texts at the carrier', index, async () => (await smsc.ask<TimedTexts>('timed')).count);
        await delay(pauseMs);
      }
    };
    await oneByOne(Math.round(warmTimed * Math.min(1, scale)), 0);
    await oneByOne(Math.max(20, Math.round(timed * scale)), betweenMs);
    const result = await smsc.ask<TimedTexts>('timed');
    await worker.stop();
    return result;
  }

  const platform: Side = {
    name: 'platform',
    title: 'one worker: send-sms',
    run: async () => {
      const { p50Ms, p99Ms } = await latency();
      const result = await run(
        {
          start: startWorker,
          hold: () => loader.ask('pause', 'send-sms-bulk'),
          load: (first, count) => loader.ask('acceptCarried', { first, count }),
          release: () => loader.ask('resume', 'send-sms-bulk'),
          finished: () =>
            until('texts without a receipt', 0, () =>
              ask("SELECT COUNT(*) FROM sms_messages WHERE status <> 'delivered'"),
            ),
        },
        `SELECT COUNT(DISTINCT record_id) FROM events JOIN sms_messages m ON m.id = record_id
         WHERE type = 'sms.delivered' AND m.status = 'delivered' AND m.claims = 1 AND m.lease_token IS NULL`,
      );
      return { ...result, figures: { 'accept to submit p50 ms': p50Ms, 'accept to submit p99 ms': p99Ms } };
    },
  };
  const receipts = (count: number) =>
    until('receipts', count, () => ask("SELECT COUNT(*) FROM bare_texts WHERE status = 'delivered'"));
  const store = async (first: number, count: number) => {
    const rows = Array.from({ length: count }, (_, index) => [first + index, 'queued']);
    await database.query('INSERT INTO bare_texts (id, status) VALUES ?', [rows]);
  };
  async function bareSide(
    settings: CarrierSettings,
    backlog: (worker: Servant) => Pick<Backlog, 'hold' | 'load' | 'release'>,
  ): Promise<Run> {
    const worker = await cast.servant('bare/smpp-out');
    return run(
      {
        start: async () => {
          await worker.ask('start', settings);
          return worker;
        },
        ...backlog(worker),
        finished: receipts,
      },
      "SELECT COUNT(*) FROM bare_texts WHERE status = 'delivered'",
    );
  }
  const bare: Side = {
    name: 'bare',
    title: 'a loop of the same codec: submit, await, batched updates of result and receipt',
    run: () =>
      bareSide({ port, window }, (loop) => ({
        // It begins at a command.
        hold: () => Promise.resolve(),
        load: store,
        release: async () => void loop.ask('run'),
      })),
  };
  const queue = 'carried';
  const bareQueue: Side = {
    name: 'bare-queue',
    title: 'the same with a BullMQ job for each text',
    run: () =>
      bareSide({ port, window, queue }, () => ({
        hold: () => filler.ask('pause', queue),
        load: async (first, count) => {
          await store(first, count);
          await filler.ask('addTexts', { queue, first, count });
        },
        release: () => filler.ask('resume', queue),
      })),
  };
  return { sides: [platform, bare, bareQueue], close: cast.stopAll };
}

export const smppOut: Line = {
  name: 'smpp-out',
  title: 'due texts to an SMSC with a window of 50, with their results and receipts on disk',
  unit: 'texts',
  targets: { bare: 0.5 },
  atMost: { 'accept to submit p50 ms': 30 },
  notes: [
    'The carrier is a process of its own, and reports each text 100 ms after it. The loop claims nothing and writes no events:',
    'it loses and repeats texts when it ends. Latency is of single texts on an idle system, one after the other.',
  ],
  open,
};
