import type mysql from 'mysql2/promise';
import { drain } from '../backlog.ts';
import { castOf, numberOf, until } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, type Side } from '../line.ts';
import { idOf, multiply, numbers, rowsAtOnce } from '../many-rows.ts';
import { openWorld, type World } from '../world.ts';

const warm = 2_000;
const rows = 20_000;
// A line has a million numbers, and the warm-up rows take some of them too.
const rowsBefore = 970_000;
const queue = 'expand-batch';
const redisMb = 'Redis MB';

/** A database of its own with the messages and events of all rows before, filled once. */
async function open(bench: Bench): Promise<Opened> {
  const { MYSQL_URL: mysqlUrl, REDIS_URL: redisUrl } = bench.world.settings;
  const own = await openWorld({ mysqlUrl: mysqlUrl!, redisUrl: redisUrl!, folder: bench.world.folder });
  const before = Math.ceil((rowsBefore * bench.scale) / rowsAtOnce) * rowsAtOnce;
  const late = await openSide({ ...bench, world: own }, before);
  const first = await openSide(bench, 0);
  return {
    sides: [
      {
        name: 'platform',
        title: `the last ${rows * bench.scale} rows of a batch of ${before + rows * bench.scale}`,
        run: late.run,
      },
      { name: 'first', title: 'the same as the first rows of a batch in an empty database', run: first.run },
    ],
    close: async () => {
      for (const side of [late, first]) await side.close();
      await own.close();
    },
  };
}

async function openSide(
  bench: Bench,
  before: number,
): Promise<{ run: Side['run']; close: () => Promise<void> }> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, `sms-batch-rows-${before}`);
  const loader = await cast.servant('loaders/platform');
  await world.clear();
  await loader.ask('customer');
  const sizes = { warm: Math.round(warm * scale), count: Math.round(rows * scale) };
  const worker = () => cast.workers([queue]);
  if (before > 0)
    await fill(world, before, { ask: (question, value) => loader.ask(question, value), worker });

  const queued = () => numberOf(database, 'SELECT COALESCE(SUM(queued), 0) FROM sms_batch_counts');
  const messages = () => numberOf(database, 'SELECT COUNT(*) FROM sms_messages WHERE id >= ?', [newest]);
  let newest: Buffer = Buffer.alloc(16);

  async function run(): Promise<Run> {
    for (const table of ['sms_batches', 'sms_batch_rows', 'sms_batch_counts', 'waiting_counts'])
      await database.query(`TRUNCATE TABLE ${table}`);
    if (before === 0) await world.clear();
    const [[last]] = await database.query<mysql.RowDataPacket[]>('SELECT MAX(id) AS id FROM sms_messages');
    newest = (last!['id'] as Buffer | null) ?? Buffer.alloc(16);
    const known = await messages();
    const window = await drain(
      {
        start: worker,
        hold: () => loader.ask('pause', queue),
        load: async (first, count) => {
          await loader.ask('acceptBatch', { content: 'liquid', first: before + first, count });
          if (first > 0 && before > 0) await moveBehind(database, before);
        },
        release: () => loader.ask('resume', queue),
        finished: (count) => until('messages', count, queued),
      },
      { ...sizes, others: world.servers },
    );
    checkEqual('messages', (await messages()) - known, sizes.warm + sizes.count);
    return {
      count: sizes.count,
      window,
      figures: { [redisMb]: (await world.redisBytes()) / 1_000_000 },
      content: '',
    };
  }
  return { run, close: cast.stopAll };
}

type Players = {
  ask: (call: string, value?: unknown) => Promise<unknown>;
  worker: () => Promise<{ stop: () => Promise<void> }>;
};

/**
 * Fills the tables as if `count` rows had become messages that wait for their turn, by copies of what one row leaves.
 */
async function fill({ database }: World, count: number, { ask, worker }: Players): Promise<void> {
  await ask('acceptBatch', { content: 'liquid', first: 0, count: 1 });
  const started = await worker();
  await until('a message', 1, () => numberOf(database, 'SELECT COUNT(*) FROM sms_messages'));
  await started.stop();
  const like = async (table: string) => {
    const [[row]] = await database.query<mysql.RowDataPacket[]>(`SELECT id FROM ${table} LIMIT 1`);
    return { table, id: row!['id'] as Buffer };
  };
  const number = "CONCAT('+447400', LPAD(n + 1, 6, '0'))";
  await multiply(database, await like('sms_messages'), count, { id: idOf('2'), recipient: number });
  await multiply(database, await like('events'), count, { id: idOf('3'), record_id: idOf('2') });
  await database.query('ANALYZE TABLE sms_messages, events');
}

/** Gives the newest batch `before` rows in front of its own, which count as messages already. */
async function moveBehind(database: mysql.Connection, before: number): Promise<void> {
  const [[batch]] = await database.query<mysql.RowDataPacket[]>('SELECT MAX(id) AS id FROM sms_batches');
  const { id } = batch!;
  await database.query('UPDATE sms_batch_rows SET position = position + ? WHERE batch_id = ?', [before, id]);
  for (let done = 0; done < before; done += rowsAtOnce)
    await database.query(
      `INSERT INTO sms_batch_rows (batch_id, position, workspace_id, number, once, country, data)
       SELECT one.batch_id, n, one.workspace_id, CONCAT('+447400', LPAD(n, 6, '0')),
         CONCAT('+447400', LPAD(n, 6, '0')), one.country, one.data
       FROM ${numbers}, sms_batch_rows one WHERE one.batch_id = ? AND one.position = ?`,
      [done, id, before],
    );
  await database.query('UPDATE sms_batches SET row_count = row_count + ?, next_position = ? WHERE id = ?', [
    before,
    before,
    id,
  ]);
}

export const smsBatchRows: Line = {
  name: 'sms-batch-rows',
  title: 'rows of a batch to queued messages with their events, by existing messages',
  unit: 'rows',
  targets: { first: 0.8 },
  atMost: { [redisMb]: 50 },
  notes: [
    'Messages before are queued too, of the same workspace, each with its event. Filling takes minutes: --scale 0.1 for a look.',
  ],
  open,
};
