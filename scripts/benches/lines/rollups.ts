import type mysql from 'mysql2/promise';
import { type Backlog, drain } from '../backlog.ts';
import { castOf, numberOf, until } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import { idOf, multiply } from '../many-rows.ts';
import type { Servant } from '../program.ts';
import { relay } from './relay.ts';

/** Emails that are counted when they are accepted, and counted again when they are sent. */
const emails = 20_000;
const tags = 100;
const domains = 50;
const slice = 1_000;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'rollups');
  const loader = await cast.servant('loaders/platform');
  await loader.ask('customer');
  const each = Math.max(1, Math.round((emails * scale) / slice)) * slice;
  // First `each` emails are accepted; then they are sent, while as many others are accepted.
  const sizes = { warm: each, count: 2 * each };
  const total = sizes.warm + sizes.count;
  const content = `${2 * each} ${each}`;
  let one: Record<'emails' | 'events', Buffer>;

  /** Makes one email and its event, which all others are copied from. */
  async function prepare(): Promise<void> {
    await world.clear();
    await loader.ask('acceptEmails', { first: 0, count: 1 });
    const idIn = async (table: string) => {
      const [[row]] = await database.query<mysql.RowDataPacket[]>(`SELECT id FROM ${table}`);
      return row!['id'] as Buffer;
    };
    one = { emails: await idIn('emails'), events: await idIn('events') };
  }

  const recipient = (n: string) => `CONCAT('r', ${n}, '@inbox', MOD(${n}, ${domains}), '.example')`;
  const tag = (n: string) => `CONCAT('tag-', MOD(${n}, ${tags}))`;

  async function accept(first: number, position: string): Promise<void> {
    const n = `(n + ${first})`;
    const id = idOf('1', n);
    const changes = { id, recipient: recipient(n), recipient_key: recipient(n), client_tag: tag(n) };
    await multiply(database, { table: 'emails', id: one.emails }, each, changes);
    await writeEvent(first, { kind: '2', type: 'email.queued', seq: 1, position });
  }

  async function send(first: number, position: string): Promise<void> {
    await database.query(
      `UPDATE emails SET status = 'sent', sent_at = TIMESTAMPADD(SECOND, 2, created_at), due_at = NULL
       WHERE id <> ? AND status = 'queued'`,
      [one.emails],
    );
    await writeEvent(first, { kind: '3', type: 'email.sent', seq: 2, position });
  }

  async function writeEvent(
    first: number,
    { kind, type, seq, position }: { kind: string; type: string; seq: number; position: string },
  ): Promise<void> {
    const n = `(n + ${first})`;
    const tagged = `REPLACE(one.data, '"clientTag":null', CONCAT('"clientTag":"', ${tag(n)}, '"'))`;
    await multiply(database, { table: 'events', id: one.events }, each, {
      id: idOf(kind, n),
      record_id: idOf('1', n),
      record_seq: String(seq),
      type: `'${type}'`,
      position,
      data: `REPLACE(${tagged}, '"r0@inbox.example"', CONCAT('"', ${recipient(n)}, '"'))`,
    });
  }

  async function load(first: number): Promise<void> {
    if (first === 0) {
      await prepare();
      await accept(0, 'n + 1');
    } else {
      await send(0, `${each} + 2 * n + 1`);
      await accept(each, `${each} + 2 * n + 2`);
    }
    await database.query('ANALYZE TABLE emails, events');
  }

  async function run(backlog: Backlog, counted: string): Promise<Run> {
    const window = await drain(backlog, { ...sizes, others: world.servers });
    const [[row]] = await database.query<mysql.RowDataPacket[]>(counted);
    checkEqual('emails accepted, and sent', Object.values(row!).map(Number), [2 * each, each]);
    return { count: sizes.count, window, content };
  }

  const platform: Backlog = {
    start: async () => {
      await world.clear();
      return cast.workers(['count-reports'], {
        REPORT_EVERY_SECONDS: '0.1',
      });
    },
    hold: async () => undefined,
    load,
    release: async () => {
      await database.query(
        "UPDATE counters SET value = (SELECT MAX(position) FROM events) WHERE name = 'events.position'",
      );
    },
    finished: (count) =>
      until('events counted', count, () =>
        numberOf(database, "SELECT value FROM counters WHERE name = 'reports.position'"),
      ),
  };

  let worker: Servant;
  let loaded = { after: 0, upTo: 0 };
  let counting: Promise<void>;
  const bare: Backlog = {
    start: async () => (worker = await cast.servant('bare/rollups')),
    hold: async () => undefined,
    load: async (first, count) => {
      await load(first);
      loaded = { after: first, upTo: first + count };
    },
    release: async () => {
      counting = worker.ask('countAll', loaded);
    },
    finished: () => counting,
  };

  const relayed = await relay.open(bench);
  const besideNone = relayed.sides.find(({ name }) => name === 'empty')!;
  return {
    sides: [
      {
        name: 'platform',
        title: `one worker: count-reports, ${total} events`,
        run: () =>
          run(
            platform,
            "SELECT SUM(accepted), SUM(sent) FROM report_counts WHERE dimension = 'all' AND span = 'hour'",
          ),
      },
      {
        name: 'bare',
        title:
          'events read, their JSON counted, two multi-row upserts (messages, counts) for each five thousand',
        run: () => run(bare, "SELECT SUM(accepted), SUM(sent) FROM bare_counts WHERE name LIKE '% all'"),
      },
      {
        name: 'relay',
        title: 'one worker: relay-events, each event to two webhooks',
        run: async () => ({ ...(await besideNone.run()), content }),
      },
    ],
    close: async () => {
      await relayed.close();
      await cast.stopAll();
    },
  };
}

export const rollups: Line = {
  name: 'rollups',
  title: 'events counted for the reports, half of them of messages counted before',
  unit: 'events',
  targets: { bare: 0.5, relay: 1 },
  notes: [
    `One workspace, ${tags} tags, ${domains} recipient domains. The platform also remembers how each message was counted, and its days and months.`,
  ],
  open,
};
