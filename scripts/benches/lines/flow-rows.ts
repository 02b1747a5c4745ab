import type mysql from 'mysql2/promise';
import { numberOf } from '../cast.ts';
import { setUp } from '../customer.ts';
import { type Flow, openFlow } from '../flow.ts';
import { type Bench, checkEqual, type Line, type Opened } from '../line.ts';
import { idOf, multiply } from '../many-rows.ts';
import { openWorld, type World } from '../world.ts';

const factors = [100, 10, 1];
/** The numbers of rows at factor 1. */
const base = {
  workspaces: 100,
  webhooksOfWorkspace: 1,
  emails: 5_000,
  events: 10_000,
  deliveries: 5_000,
  pendingDeliveries: 2_000,
  suppressions: 1_000,
};

/** A separate database for each factor, filled once. */
async function open(bench: Bench): Promise<Opened> {
  const opened: { world: World; flow: Flow }[] = [];
  const sides = [];
  for (const factor of factors) {
    const { MYSQL_URL: mysqlUrl, REDIS_URL: redisUrl } = bench.world.settings;
    const world = await openWorld({ mysqlUrl: mysqlUrl!, redisUrl: redisUrl!, folder: bench.world.folder });
    const flow = await openFlow({ ...bench, world }, `flow-rows-${factor}`, 1);
    opened.push({ world, flow });
    await fill(world, flow, factor * bench.scale);
    sides.push({ name: `rows-${factor}`, title: titleOf(factor * bench.scale), run: flow.run });
  }
  return {
    sides,
    close: async () => {
      for (const { world, flow } of opened) {
        await flow.close();
        await world.close();
      }
    },
  };
}

function titleOf(factor: number): string {
  const amounts = Object.entries(base).map(([what, amount]) => {
    const words = what.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return `${Math.ceil(amount * factor).toLocaleString('en-GB')} ${words}`;
  });
  return `beside ${amounts.join(', ')}`;
}

async function fill({ database }: World, { loader, cast, key }: Flow, factor: number): Promise<void> {
  await loader.ask('acceptEmails', { first: 0, count: 1 });
  await setUp(cast, key, (api) => api.post('/v2/suppressions', { body: { email: 'gone@inbox.example' } }));
  await loader.ask('wakeRelay');
  const like = async (table: string, where = '1 = 1') => {
    const [[row]] = await database.query<mysql.RowDataPacket[]>(
      `SELECT id FROM ${table} WHERE ${where} LIMIT 1`,
    );
    return { table, id: row!['id'] as Buffer };
  };
  const count = (what: keyof typeof base) => Math.ceil(base[what] * factor);
  const email = await like('emails');
  const address = "CONCAT('r', n, '@inbox.example')";
  await database.query("UPDATE emails SET status = 'sent', due_at = NULL");
  await multiply(database, email, count('emails'), {
    id: idOf('1'),
    recipient: address,
    recipient_key: address,
  });
  const event = await like('events');
  await multiply(database, event, count('events'), {
    id: idOf('2'),
    record_id: idOf('3'),
    position: 'n + 2',
  });
  await database.query("UPDATE counters SET value = ? WHERE name = 'events.position'", [count('events') + 1]);
  await database.query('UPDATE events SET position = 1 WHERE id = ?', [event.id]);

  const webhook = await like('webhooks');
  await database.query(
    `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, event_type, status, attempts, created_at,
       completed_at, response_status)
     SELECT e.id, e.workspace_id, w.id, e.id, 'email.sent', 'delivered', 1, e.occurred_at, e.occurred_at, 200
     FROM events e, webhooks w WHERE e.id = ?`,
    [event.id],
  );
  const delivery = await like('webhook_deliveries');
  await multiply(database, delivery, count('deliveries'), { id: idOf('4'), event_id: idOf('2') });
  // These copies are the customer's other webhooks, at an address where nothing listens, and below the webhooks of
  // other customers.
  await multiply(database, webhook, count('webhooksOfWorkspace') - 1, {
    id: idOf('5'),
    url: "CONCAT('http://127.0.0.1:9/', n)",
    events: '\'["sms.sent"]\'',
  });
  await multiply(database, await like('workspaces'), count('workspaces'), { id: idOf('6') });
  await multiply(database, webhook, count('workspaces'), { id: idOf('7'), workspace_id: idOf('6') });
  await multiply(database, await like('api_keys'), count('workspaces'), {
    id: idOf('8'),
    workspace_id: idOf('6'),
    lineage_id: idOf('8'),
    hash: 'UNHEX(SHA2(n, 256))',
  });
  await multiply(database, delivery, count('pendingDeliveries'), {
    id: idOf('9'),
    event_id: idOf('2'),
    webhook_id: idOf('7', `(n MOD ${count('workspaces')})`),
    status: "'pending'",
    due_at: 'UTC_TIMESTAMP(3) + INTERVAL 2 HOUR',
    parked: '1',
    completed_at: 'NULL',
  });
  await multiply(database, await like('suppressions'), count('suppressions'), {
    id: idOf('a'),
    email: "CONCAT('gone', n, '@inbox.example')",
    email_key: "CONCAT('gone', n, '@inbox.example')",
  });
  for (const [table, added] of [
    ['emails', count('emails')],
    ['events', count('events')],
    ['webhook_deliveries', count('deliveries') + count('pendingDeliveries')],
    ['suppressions', count('suppressions')],
  ] as const) {
    const rows = await numberOf(database, `SELECT COUNT(*) FROM ${table} WHERE id < ?`, [email.id]);
    checkEqual(`rows of ${table} from before`, rows, added);
  }
  await database.query('ANALYZE TABLE emails, events, webhook_deliveries, webhooks, suppressions');
}

export const flowRows: Line = {
  name: 'flow-rows',
  title: 'POST /v2/email to its email.sent at an endpoint, by what there is already',
  unit: 'emails',
  targets: { 'rows-1': 0.8 },
  notes: [
    'Contacts and the feed have lines of their own (contact-search, feed). Filling takes minutes: --scale 0.1 for a look.',
  ],
  open,
};
