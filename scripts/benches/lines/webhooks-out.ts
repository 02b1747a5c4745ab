import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import path from 'node:path';
import { httpbis } from 'http-message-signatures';
import { verifyWebhook } from 'messaging-service/client';
import { type Backlog, drain } from '../backlog.ts';
import type { PostSettings } from '../bare/webhooks-out.ts';
import { castOf, numberOf, until } from '../cast.ts';
import { setUp } from '../customer.ts';
import { type Bench, checkEqual, type Line, Mismatch, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Received, Sample } from '../players/webhook-receiver.ts';

const warm = 5_000;
const deliveries = 20_000;
const jobsInFlight = 200;
const queue = 'posts';

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'webhooks-out');
  const [loader, filler, receiver] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('loaders/bare'),
    cast.servant('players/webhook-receiver'),
  ] as const);
  const origin = `http://127.0.0.1:${await receiver.ask<number>('listen')}`;
  const url = `${origin}/hooks/orders`;
  const { key } = await loader.ask<Customer>('customer');
  const webhook = await setUp(cast, key, (api) =>
    api.post('/v2/webhooks', { body: { url, events: ['email.queued'] } }),
  );
  const secret = webhook.secret!;
  const sizes = { warm: Math.round(warm * scale), count: Math.round(deliveries * scale) };
  const total = sizes.warm + sizes.count;
  const file = path.join(world.folder, 'webhooks-out.bodies');
  await loader.ask('prepareEvents', { count: total, file });

  async function run(backlog: Backlog, checkRows: () => Promise<void>): Promise<Run> {
    await world.clear();
    await receiver.ask('reset');
    const window = await drain(backlog, { ...sizes, others: { receiver: receiver.pid, ...world.servers } });
    const received = await receiver.ask<Received>('received');
    checkEqual('deliveries and repeated ones', [received.deliveries, received.duplicates], [total, 0]);
    for (const sample of await receiver.ask<Sample[]>('samples'))
      await checkSignature(sample, origin, secret);
    await checkRows();
    return { count: sizes.count, window, content: `${received.bytes} bytes, checksums ${received.checksum}` };
  }

  const platform: Backlog = {
    start: () => cast.workers(['relay-events', 'deliver-webhook']),
    // Stored events wait until the relay is woken, because no sweep runs.
    hold: async () => undefined,
    load: (first, count) => loader.ask('storeEvents', { first, count }),
    release: () => loader.ask('wakeRelay'),
    finished: async (count) => {
      await receiver.ask('reach', count);
      await until('deliveries that wait', 0, () =>
        numberOf(database, "SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'pending'"),
      );
    },
  };
  const checkPlatform = async () => {
    const counts = [
      "SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'delivered' AND attempts = 1 AND response_status = 200",
      'SELECT COUNT(DISTINCT position) FROM events',
    ].map((sql) => numberOf(database, sql));
    checkEqual('deliveries with a result, numbered events', await Promise.all(counts), [total, total]);
  };

  const settings: PostSettings = { queue, url, secret, jobsInFlight };
  const bare: Backlog = {
    start: () => cast.bare('bare/webhooks-out', settings),
    hold: () => filler.ask('pause', queue),
    load: (first, count) => filler.ask('addPosts', { queue, file, first, count }),
    release: () => filler.ask('resume', queue),
    finished: async (count) => {
      await receiver.ask('reach', count);
      await until('results', count, () => numberOf(database, 'SELECT COUNT(*) FROM bare_deliveries'));
    },
  };
  const checkBare = async () =>
    checkEqual(
      'deliveries with a result',
      await numberOf(
        database,
        'SELECT COUNT(DISTINCT delivery_id) FROM bare_deliveries WHERE response_status = 200',
      ),
      total,
    );

  return {
    sides: [
      {
        name: 'platform',
        title: 'one worker: relay-events, deliver-webhook',
        run: () => run(platform, checkPlatform),
      },
      {
        name: 'bare',
        title: 'BullMQ job, HMAC signature, undici POST, batched insert',
        run: () => run(bare, checkBare),
      },
    ],
    close: cast.stopAll,
  };
}

/** Verifies a signature with the client that customers have, and with a library that neither side signs with. */
async function checkSignature({ head, body }: Sample, origin: string, secret: string): Promise<void> {
  const [start = '', ...lines] = head.split('\r\n');
  const [method = '', target = ''] = start.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  verifyWebhook({ url: origin + target, headers, body, secrets: secret });
  const isGood = await httpbis.verifyMessage(
    {
      keyLookup: async ({ keyid }) => ({
        id: keyid ?? '',
        algs: ['hmac-sha256'],
        verify: async (data: Buffer, signature: Buffer) =>
          timingSafeEqual(createHmac('sha256', secret).update(data).digest(), signature),
      }),
      requiredFields: [
        '@method',
        '@authority',
        '@path',
        '@query',
        'content-digest',
        'content-type',
        'webhook-id',
      ],
      requiredParams: ['created', 'expires', 'keyid', 'alg'],
    },
    { method, url: origin + target, headers },
  );
  const digest = `sha-256=:${hash('sha256', body, 'base64')}:`;
  if (!isGood || headers['content-digest'] !== digest)
    throw new Mismatch(`A signature does not verify: ${head}\n\n${body}`);
}

export const webhooksOut: Line = {
  name: 'webhooks-out',
  title: 'committed event to accepted delivery with its result on disk, one webhook',
  unit: 'deliveries',
  targets: { bare: 0.5 },
  notes: [
    'The platform numbers and fans out the events first, inside the measured time, and keeps a row for each delivery;',
    `the bare side finds ${jobsInFlight} jobs at a time in its queue. Both send the same bytes.`,
  ],
  open,
};
