// @slow: it starts, stops and breaks processes of the platform.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { type Answer, type Client, clientOf } from '../../support/api/api-client.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startOwnMysql } from '../../support/servers/own-servers.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let mysql: Awaited<ReturnType<typeof startOwnMysql>>;
beforeAll(async () => {
  mysql = await startOwnMysql();
  changeSettings({ MYSQL_URL: mysql.url });
});
useDatabase();

const clients = 5;
const kills = 2;
const acceptedBetween = 15;
const leaseMs = config.LEASE_SECONDS * 1000;

type Own = Awaited<ReturnType<typeof workspace>>;
type Sent = { reference: string; first: Answer; acknowledged: Answer | null };

const post = (api: Client, own: Own, reference: string) =>
  api.request('POST', '/v2/email', {
    key: own.key,
    headers: { 'idempotency-key': reference },
    body: newEmail(own, { clientReference: reference, recipient: `${reference}@example.com` }),
  });

/** Starts customers who send one email after the other until `stop`, whatever the answers are. */
function startLoad(api: Client, own: Own) {
  const sent: Sent[] = [];
  let isOver = false;
  const customers = Array.from({ length: clients }, async () => {
    while (!isOver) {
      const reference = randomUUID();
      const first = await post(api, own, reference);
      sent.push({ reference, first, acknowledged: first.status === 201 ? first : null });
      // A customer who is refused waits before the next request.
      if (first.status !== 201) await sleep(50);
    }
  });
  const stop = () => {
    isOver = true;
    return Promise.all(customers);
  };
  return { sent, stop, accepted: () => sent.filter(({ acknowledged }) => acknowledged).length };
}

// Shows F21
test('MySQL killed under load: what was accepted is there and goes out once, the rest is a 503 and whole or nowhere', async () => {
  const own = await workspace();
  const sink = await startSmtpSink();
  const web = await startWeb();
  const worker = await startWorkerProcess(['send-email', 'sweep'], { SMTP_URL: sink.url });
  const api = clientOf(web.url);
  const load = startLoad(api, own);
  let backAt = now();
  for (let kill = 1; kill <= kills; kill += 1) {
    await waitFor('emails are accepted', () => load.accepted() >= kill * acceptedBetween);
    const before = load.sent.length;
    await mysql.kill();
    await waitFor('every customer has been refused', () => load.sent.length >= before + 3 * clients);
    const { status } = await api.request('GET', '/health/ready');
    expect(status).toBe(503);
    await mysql.start();
    backAt = now();
  }
  await waitFor('emails are accepted again', () => load.accepted() >= (kills + 1) * acceptedBetween);
  await load.stop();

  for (const { first } of load.sent.filter(({ acknowledged }) => !acknowledged)) {
    expect(first.status).toBe(503);
    expect(first.body.type).toMatch(/service_unavailable$/);
    expect(Number(first.headers['retry-after'])).toBeGreaterThan(0);
  }
  const halves = await query(
    `SELECT e.client_reference FROM emails e
     LEFT JOIN idempotency_records i ON i.idempotency_key = e.client_reference AND i.answer IS NOT NULL
     WHERE i.idempotency_key IS NULL OR e.event_seq < 1
       OR (e.status = 'queued' AND NOT EXISTS (SELECT 1 FROM email_bodies b WHERE b.email_id = e.id))`,
  );
  expect(halves).toEqual([]);

  const ids = new Map<string, string>();
  for (const { reference, acknowledged } of load.sent) {
    const again = await post(api, own, reference);
    expect(again.status).toBe(201);
    if (acknowledged)
      expect([again.body, again.headers['idempotent-replayed']]).toEqual([acknowledged.body, 'true']);
    ids.set(reference, again.body.id);
  }
  // If the answer to a claim was lost, its email waits until the lease ends.
  await waitFor('only those of lost claims wait', async () => {
    const rows = await query(
      "SELECT id FROM emails WHERE status = 'queued' AND (lease_token IS NULL OR due_at > ?)",
      [new Date(backAt.getTime() + leaseMs)],
    );
    return rows.length === 0;
  });
  await advanceClock(leaseMs + 3_000);
  const arrivals = () => Map.groupBy(sink.messages, ({ envelope }) => envelope.to[0]!.split('@')[0]!);
  await waitFor('every email has gone out', () => arrivals().size === ids.size, { timeoutMs: 120_000 });
  await waitFor('every email counts as sent', async () => {
    const [row] = await query("SELECT COUNT(*) AS n FROM emails WHERE status = 'sent'");
    return Number(row!['n']) === ids.size;
  });
  expect(new Set(arrivals().keys())).toEqual(new Set(ids.keys()));
  expect([...arrivals().values()].filter((copies) => copies.length > 1)).toEqual([]);
  const twice = await query(
    'SELECT client_reference FROM emails GROUP BY client_reference HAVING COUNT(*) > 1',
  );
  expect(twice).toEqual([]);
  for (const process of [web, worker]) {
    expect(process.isRunning()).toBe(true);
    // The log may say that the database is away; an unexpected or unhandled error would be a fault.
    expect(process.output()).not.toMatch(/"level":"fatal"|unexpected|unhandled/i);
  }
});
