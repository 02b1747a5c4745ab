import { type Backlog, drain } from '../backlog.ts';
import type { TextSettings } from '../bare/sms-out.ts';
import { castOf, numberOf, until } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, type Side } from '../line.ts';

const warm = 600;
const texts = 6_000;
const settings: TextSettings = { queue: 'texts', jobsInFlight: 100 };

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'sms-out');
  const [loader, filler] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('loaders/bare'),
  ] as const);
  await loader.ask('customer');
  const sizes = { warm: Math.round(warm * scale), count: Math.round(texts * scale) };
  const total = sizes.warm + sizes.count;
  const { queue } = settings;
  const ask = (sql: string) => numberOf(database, sql);

  async function run(backlog: Backlog, kept: string, ended: string): Promise<Run> {
    await world.clear();
    const window = await drain(backlog, { ...sizes, others: world.servers });
    checkEqual(
      'texts at the phones, and with their result',
      [await ask(kept), await ask(ended)],
      [total, total],
    );
    return { count: sizes.count, window, content: `${total} texts` };
  }

  const platform: Side = {
    name: 'platform',
    title: 'one worker: send-sms',
    run: () =>
      run(
        {
          start: () => cast.workers(['send-sms']),
          hold: () => loader.ask('pause', 'send-sms-bulk'),
          load: (first, count) => loader.ask('acceptTexts', { first, count }),
          release: () => loader.ask('resume', 'send-sms-bulk'),
          finished: () =>
            until('texts that wait', 0, () =>
              ask("SELECT COUNT(*) FROM sms_messages WHERE status = 'queued'"),
            ),
        },
        'SELECT COUNT(*) FROM simulator_messages',
        `SELECT COUNT(DISTINCT record_id) FROM events JOIN sms_messages m ON m.id = record_id
         WHERE type = 'sms.sent' AND m.status = 'sent' AND m.claims = 1 AND m.lease_token IS NULL`,
      ),
  };
  const bare: Side = {
    name: 'bare',
    title: 'BullMQ job, the same sink in batches, batched update of the result',
    run: () =>
      run(
        {
          start: () => cast.bare('bare/sms-out', settings),
          hold: () => filler.ask('pause', queue),
          load: async (first, count) => {
            const rows = Array.from({ length: count }, (_, index) => [first + index, 'queued']);
            await database.query('INSERT INTO bare_texts (id, status) VALUES ?', [rows]);
            await filler.ask('addTexts', { queue, first, count });
          },
          release: () => filler.ask('resume', queue),
          finished: (count) =>
            until('results', count, () => ask("SELECT COUNT(*) FROM bare_texts WHERE status = 'sent'")),
        },
        'SELECT COUNT(*) FROM bare_phone_texts',
        "SELECT COUNT(*) FROM bare_texts WHERE status = 'sent'",
      ),
  };
  return { sides: [platform, bare], close: cast.stopAll };
}

export const smsOut: Line = {
  name: 'sms-out',
  title: 'due texts to a sink that keeps them in MySQL, with their results on disk',
  unit: 'texts',
  targets: { bare: 0.5 },
  notes: [
    'Both sinks keep a phone, its text and what it is to answer, and add a job for the answer. Only send-sms runs, so no phone',
    'answers. Beside that the platform claims, notes the hand-over, and writes an event with each result.',
  ],
  open,
};
