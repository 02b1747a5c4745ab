import type mysql from 'mysql2/promise';
import { atPace, castOf, numberOf, until } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, side } from '../line.ts';
import { numbers, rowsAtOnce } from '../many-rows.ts';
import { latencyOf } from '../statistics.ts';
import { openWindow } from '../usage.ts';

const backlog = 100_000;
/** Rows of the running batch: as many as a batch may have numbers. */
const batchRows = 1_000_000;
/** Single texts of another customer, at a steady pace; the backlog lasts longer. The slowest 12 decide the p99. */
const singles = 1_200;
const everyMs = 25;
/** The first hundreds of texts are slow on both sides, until Node has compiled the code. */
const warm = 400;

type Players = { database: mysql.Connection; ask: (call: string, value: unknown) => Promise<unknown> };

/** The work of the other workspace in a line. `load` makes it; `workers` are the lines of the Procfile that do it. */
type Backlog = {
  name: string;
  title: (count: number) => string;
  rows: number;
  load: (players: Players, count: number) => Promise<void>;
  /** SQL that counts what is left of the work. */
  left: string;
  workers: string[][];
};

const texts: Backlog = {
  name: 'sms-isolation',
  title: (count) => `single texts beside ${count} of the batches of another`,
  rows: backlog,
  load: async ({ ask }, count) => void (await ask('storeTexts', { first: 0, count })),
  left: "SELECT COUNT(*) FROM sms_messages WHERE lane = 'bulk' AND status = 'queued'",
  workers: [['send-sms'], ['sweep']],
};

const batch: Backlog = {
  name: 'sms-isolation-batch',
  title: (count) => `single texts while a batch of ${count} of another becomes messages and goes out`,
  rows: batchRows,
  load: loadBatch,
  left: 'SELECT SUM(waiting) FROM sms_batch_counts',
  workers: [['expand-batch'], ['send-sms'], ['sweep']],
};

/** One batch: its first rows as a request makes them, the others like the first. */
async function loadBatch({ database, ask }: Players, count: number): Promise<void> {
  const first = 1_000;
  await ask('acceptBatch', { content: 'liquid', first: 0, count: first });
  const [[row]] = await database.query<mysql.RowDataPacket[]>('SELECT id, workspace_id FROM sms_batches');
  const { id, workspace_id: workspace } = row!;
  for (let done = first; done < count; done += rowsAtOnce)
    await database.query(
      `INSERT INTO sms_batch_rows (batch_id, position, workspace_id, number, once, country, data)
       SELECT one.batch_id, n, one.workspace_id, CONCAT('+447400', LPAD(n, 6, '0')),
         CONCAT('+447400', LPAD(n, 6, '0')), one.country, one.data
       FROM ${numbers}, sms_batch_rows one WHERE one.batch_id = ? AND one.position = 0 AND n < ?`,
      [done, id, count],
    );
  const more = count - first;
  await database.query('UPDATE sms_batches SET row_count = row_count + ? WHERE id = ?', [more, id]);
  await database.query('UPDATE sms_batch_counts SET waiting = waiting + ? WHERE batch_id = ? LIMIT 1', [
    more,
    id,
  ]);
  await database.query('UPDATE waiting_counts SET messages = messages + ? WHERE workspace_id = ? LIMIT 1', [
    more,
    workspace,
  ]);
}

async function open(bench: Bench, other: Backlog): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, other.name);
  const [bulk, loader] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('loaders/platform'),
  ] as const);
  await bulk.ask('customer');
  await loader.ask('customer');
  const [count, warmed] = [Math.max(50, Math.round(singles * scale)), Math.max(20, Math.round(warm * scale))];
  const waiting = isBulk(true);
  const ask = (sql: string) => numberOf(database, sql);
  const sent = () => ask(`SELECT COUNT(*) FROM sms_messages WHERE ${isBulk(false)} AND status = 'sent'`);

  async function run(isBusy: boolean): Promise<Run> {
    await world.clear();
    if (isBusy)
      await other.load(
        { database, ask: (call, value) => bulk.ask(call, value) },
        Math.round(other.rows * scale),
      );
    const workers = await Promise.all(other.workers.map((kinds) => cast.workers(kinds)));
    // Warms up the workers and the loader.
    await atPace(warmed, everyMs, (index) => loader.ask('acceptText', `warm-${index}`));
    await until('single texts', warmed, sent);
    if (isBusy)
      await until('whether the backlog goes out', 1, async () =>
        Number((await ask(`SELECT COUNT(*) FROM sms_messages WHERE ${waiting} AND status = 'sent'`)) > 0),
      );
    const close = openWindow({
      ...Object.fromEntries(workers.map(({ pid }, index) => [other.workers[index]![0]!, pid])),
      ...world.servers,
    });
    await atPace(count, everyMs, (index) => loader.ask('acceptText', String(index)));
    await until('single texts', warmed + count, sent);
    const window = close();
    if (isBusy) checkEqual('whether the backlog lasted', (await ask(other.left)) > 0, true);
    const [rows] = await database.query(
      `SELECT client_reference AS reference, sent_at AS sentAt FROM sms_messages
       WHERE ${isBulk(false)} AND client_reference NOT LIKE '%-warm-%'`,
    );
    const latencies = (rows as { reference: Buffer; sentAt: Date }[]).map(
      ({ reference, sentAt }) => sentAt.getTime() - Number(reference.toString().split('-')[1]),
    );
    await Promise.all(workers.map((worker) => worker.stop()));
    checkEqual('single texts', latencies.length, count);
    return { count, window, latency: latencyOf(latencies), content: `${count} texts` };
  }

  return {
    sides: [
      side('platform', other.title(Math.round(other.rows * scale)), () => run(true)),
      side('idle', 'the single texts alone', () => run(false)),
    ],
    close: cast.stopAll,
  };
}

/** SQL: a text of the backlog, or of the other customer. */
const isBulk = (wanted: boolean): string => `lane ${wanted ? '=' : '<>'} 'bulk'`;

function lineOf(other: Backlog, title: string): Line {
  return {
    name: other.name,
    title,
    unit: 'texts',
    targets: { idle: 0.75 },
    p99AtMost: { idle: 2 },
    comparedBy: 'p50',
    notes: [
      `p50 and p99 are from the call that accepts to the time at which the gateway took it, at ${1000 / everyMs} texts/s.`,
      'The rate is what the pace and both waits come to.',
    ],
    open: (bench) => open(bench, other),
  };
}

export const smsIsolation = lineOf(
  texts,
  'single texts of one workspace while another has a backlog of batches, one worker',
);
export const smsIsolationBatch = lineOf(
  batch,
  'single texts of one workspace while a batch of 1,000,000 of another runs',
);
