import type mysql from 'mysql2/promise';
import { type Backlog, drain } from '../backlog.ts';
import type { BareBatch } from '../bare/sms-batch.ts';
import { castOf, numberOf, until } from '../cast.ts';
import type { BatchContent } from '../content.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, type Side } from '../line.ts';

const warm = 2_000;
const rows = 20_000;
/** The job's queue; its batches go to another one when all their rows are messages. */
const queue = 'expand-batch';

/** SQL that reads the results of a side. */
interface Stored {
  messages: string;
  /** SQL for the queued messages that have exactly one event about this. */
  told: string;
  counted: string;
  /** SQL for the batches whose rows are all messages. */
  done: string;
}
const stores = {
  platform: {
    messages: 'sms_messages',
    told: `SELECT COUNT(DISTINCT record_id) FROM events JOIN sms_messages m ON m.id = record_id
           WHERE type = 'sms.queued' AND m.status = 'queued' AND m.batch_id IS NOT NULL`,
    counted: 'SELECT COALESCE(SUM(queued), 0) FROM sms_batch_counts',
    done: 'SELECT COUNT(*) FROM sms_batches WHERE expanding = 0 AND next_position = row_count',
  },
  bare: {
    messages: 'bare_batch_messages',
    told: `SELECT COUNT(DISTINCT record_id) FROM bare_events JOIN bare_batch_messages m ON m.id = record_id
           WHERE type = 'sms.queued' AND m.status = 'queued' AND m.batch_id IS NOT NULL`,
    counted: 'SELECT COALESCE(SUM(queued), 0) FROM bare_batches',
    done: 'SELECT COUNT(*) FROM bare_batches WHERE next_position = row_count',
  },
} satisfies Record<string, Stored>;

async function open(bench: Bench, name: string, content: BatchContent): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, name);
  const [loader, filler] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('bare/sms-batch'),
  ] as const);
  await loader.ask('customer');
  const sizes = { warm: Math.round(warm * scale), count: Math.round(rows * scale) };
  const total = sizes.warm + sizes.count;
  const ask = (sql: string) => numberOf(database, sql);

  async function run(backlog: Omit<Backlog, 'finished'>, stored: Stored): Promise<Run> {
    await world.clear();
    const finished = (count: number) => until('messages', count, () => ask(stored.counted));
    const window = await drain({ ...backlog, finished }, { ...sizes, others: world.servers });
    checkEqual('queued messages, each with its event', await ask(stored.told), total);
    checkEqual('batches with nothing left to make', await ask(stored.done), 2);
    checkEqual(
      'events',
      await ask(`SELECT COUNT(*) FROM ${stored === stores.bare ? 'bare_events' : 'events'}`),
      total,
    );
    return { count: sizes.count, window, content: await contentOf(database, stored) };
  }

  const platform: Side = {
    name: 'platform',
    title: 'one worker: expand-batch',
    run: () =>
      run(
        {
          start: () => cast.workers(['expand-batch']),
          hold: () => loader.ask('pause', queue),
          load: (first, count) => loader.ask('acceptBatch', { content, first, count }),
          release: () => loader.ask('resume', queue),
        },
        stores.platform,
      ),
  };

  async function bare(): Promise<Run> {
    const worker = await cast.servant('bare/sms-batch');
    let loaded: BareBatch;
    let made: Promise<void> | undefined;
    const result = await run(
      {
        start: async () => worker,
        hold: async () => made,
        load: async (first, count) => {
          loaded = { id: first + 1, content, first, count };
          await filler.ask('fill', loaded);
        },
        release: async () => {
          made = worker.ask('expand', loaded);
        },
      },
      stores.bare,
    );
    await made;
    return result;
  }

  return {
    sides: [
      platform,
      {
        name: 'bare',
        title: 'a loop: 500 rows, their texts, one transaction of multi-row inserts',
        run: bare,
      },
    ],
    close: cast.stopAll,
  };
}

/** Counts of the messages and a checksum of recipients with their texts, which both sides must share. */
async function contentOf(database: mysql.Connection, { messages }: Stored): Promise<string> {
  const [[row]] = await database.query<mysql.RowDataPacket[]>(
    `SELECT COUNT(*) AS messages, COUNT(DISTINCT recipient) AS numbers, SUM(parts) AS parts,
       SUM(CRC32(CONCAT(recipient, '|', content))) AS checksum FROM ${messages}`,
  );
  return JSON.stringify(row);
}

const notes = [
  'Both sides read the rows from MySQL and commit 500 at a time: messages, events, the counts of the batch and its place.',
  'Beside that the platform looks for suppressed numbers, known contacts, senders, prices, limits and its lease.',
];

export const smsBatchLiquid: Line = {
  name: 'sms-batch-liquid',
  title: 'rows of a batch to queued messages with their events, text with Liquid',
  unit: 'rows',
  targets: { bare: 0.6 },
  notes: [...notes, 'The platform renders in threads that it can kill; the bare side in its own process.'],
  open: (bench) => open(bench, 'sms-batch-liquid', 'liquid'),
};

export const smsBatchPlain: Line = {
  name: 'sms-batch-plain',
  title: 'rows of a batch to queued messages with their events, the same text for all',
  unit: 'rows',
  targets: { bare: 0.6 },
  notes,
  open: (bench) => open(bench, 'sms-batch-plain', 'plain'),
};
