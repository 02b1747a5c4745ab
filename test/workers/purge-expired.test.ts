import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { takeCounts } from '../../shared/common/metrics.ts';
import { query } from '../../shared/db/client.ts';
import { findEmail } from '../../shared/db/email/emails.ts';
import { attempt as attemptEmail } from '../../shared/domain/email/delivery/delivery.ts';
import * as relay from '../../shared/domain/events/relay.ts';
import * as retention from '../../shared/domain/operations/retention.ts';
import { redeliver } from '../../shared/domain/webhooks/deliveries/again.ts';
import { attempt } from '../../shared/domain/webhooks/deliveries/deliveries.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { purgeExpired } from '../../shared/jobs/purge-expired.ts';
import { queueOf } from '../../shared/queue/queue.ts';
import { acceptEmail, callerOf, eventsOf } from '../support/data/accepted-email.ts';
import { deliveriesOf, dueDelivery } from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { numbers } from '../support/database/copied-rows.ts';
import { useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { advanceClock } from '../support/time/advance-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Puts an event into the feed; the event after it makes sure that its place in time is known. */
async function oldEvent() {
  const email = await acceptEmail(own);
  await relay.relayAll();
  await advanceClock(6_000);
  await acceptEmail(own);
  await relay.relayAll();
  return email;
}
const isKept = async (email: { id: string }) => (await eventsOf(own, email.id)).length > 0;

test('events are kept for 7 days and a little more, then they are gone', async () => {
  const email = await oldEvent();
  await advanceClock(7 * dayMs);
  await retention.purge();
  expect(await isKept(email)).toBe(true);
  await advanceClock(hourMs + 60_000);
  expect(await retention.purge()).toBeGreaterThan(0);
  expect(await isKept(email)).toBe(false);
  expect(await retention.purge()).toBe(0);
});

test('the last events of a quiet system go too', async () => {
  const email = await acceptEmail(own);
  await relay.relayAll();
  // The job runs every few minutes.
  await retention.purge();
  await advanceClock(7 * dayMs + hourMs + 60_000);
  await retention.purge();
  expect(await isKept(email)).toBe(false);
});

test('the email itself outlives its events', async () => {
  const email = await oldEvent();
  await advanceClock(8 * dayMs);
  await retention.purge();
  expect(await isKept(email)).toBe(false);
  expect((await email.read()).id).toBe(email.id);
});

test('what is younger stays, numbered or not', async () => {
  await oldEvent();
  await advanceClock(7 * dayMs);
  const young = await oldEvent();
  await advanceClock(2 * hourMs);
  const waiting = await acceptEmail(own);
  await retention.purge();
  expect(await isKept(young)).toBe(true);
  expect(await isKept(waiting)).toBe(true);
});

test('deliveries go when their events do, and not while they may still be made', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const delivery = await dueDelivery(own, receiver.url);
  await attempt(delivery.id);
  await advanceClock(6 * dayMs);
  await retention.purge();
  expect(await deliveriesOf(delivery.webhook.id)).not.toEqual([]);
  await advanceClock(dayMs + 2 * hourMs);
  await retention.purge();
  expect((await deliveriesOf(delivery.webhook.id)).map(({ id }) => id)).not.toContain(delivery.id);
});

test('a delivery that was sent again stays with its event and attempts until its own 7 days are over, ends as failed, and goes then', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const { id, webhook, emailId, read } = await dueDelivery(own, receiver.url);
  const attemptsKept = async () => {
    const rows = await query('SELECT 1 FROM webhook_attempts WHERE delivery_id = ?', [idToBytes(id)]);
    return rows.length;
  };
  await attempt(id);
  await advanceClock(6 * dayMs);
  await retention.purge();
  await redeliver(callerOf(own), webhook.id, id);
  await advanceClock(6 * dayMs);
  await retention.purge();
  await attempt(id);
  expect(receiver.requests).toHaveLength(2);
  await retention.purge();
  expect(await read()).toMatchObject({ id, status: 'pending' });
  // The latest attempt is in the delivery's own row.
  expect(await attemptsKept()).toBe(1);
  await advanceClock(dayMs + 60_000);
  await retention.purge();
  expect(await read()).toMatchObject({ id, status: 'failed' });
  expect(await isKept({ id: emailId })).toBe(true);
  await advanceClock(hourMs);
  await retention.purge();
  await retention.purge();
  expect((await deliveriesOf(webhook.id)).map((delivery) => delivery.id)).not.toContain(id);
  expect(await attemptsKept()).toBe(0);
  expect(await isKept({ id: emailId })).toBe(false);
});

test('a delivery that a worker has claimed is not deleted', async () => {
  const receiver = await startWebhookReceiver();
  const { id, read } = await dueDelivery(own, receiver.url);
  await advanceClock(7 * dayMs + 2 * hourMs);
  await query('UPDATE webhook_deliveries SET lease_token = id WHERE id = ?', [idToBytes(id)]);
  await retention.purge();
  await query('UPDATE webhook_deliveries SET lease_token = NULL WHERE id = ?', [idToBytes(id)]);
  expect(await read()).toMatchObject({ id, status: 'pending' });
  await attempt(id);
  expect(receiver.requests).toHaveLength(1);
});

test('where events are kept for fewer than 7 days, a delivery that is pending fails at the end of these', async () => {
  changeSettings({ EVENT_RETENTION_DAYS: 2 });
  const receiver = await startWebhookReceiver();
  const { id, read } = await dueDelivery(own, receiver.url);
  await advanceClock(2 * dayMs + 60_000);
  await retention.purge();
  expect(await read()).toMatchObject({ id, status: 'failed' });
  changeSettings({ EVENT_RETENTION_DAYS: 7 });
});

test('thousands are deleted in small batches, to the last one that is due', async () => {
  const email = await oldEvent();
  const [{ n: position }] = await query<[{ n: number }]>('SELECT MAX(position) AS n FROM events');
  await query(
    `INSERT INTO events (id, workspace_id, position, type, record_id, record_seq, occurred_at, data)
     SELECT UNHEX(LEFT(SHA2(n, 256), 32)), e.workspace_id, NULL, e.type, UNHEX(LEFT(SHA2(n, 256), 32)), 1, e.occurred_at, '{}'
     FROM ${numbers(4_900)} JOIN events e ON e.position = ?`,
    [position],
  );
  await relay.relayAll();
  await advanceClock(6_000);
  const after = await oldEvent();
  await advanceClock(8 * dayMs);
  expect(await retention.purge()).toBeGreaterThanOrEqual(4_900);
  expect(await isKept(email)).toBe(false);
  expect(await isKept(after)).toBe(false);
  const [{ n: left }] = await query<[{ n: number }]>('SELECT COUNT(*) AS n FROM events WHERE position <= ?', [
    position + 4_900,
  ]);
  expect(left).toBe(0);
});

test('a purge ends with the batch in progress when its process is to stop, and the next one goes on', async () => {
  const count = 30_000;
  await query(
    `INSERT INTO request_nonces (key_id, nonce_hash, expires_at)
     SELECT UNHEX(LEFT(SHA2(n, 256), 32)), UNHEX(SHA2(n, 256)), '2020-01-01' FROM ${numbers(count)}`,
  );
  const countLeft = async () => {
    const [row] = await query("SELECT COUNT(*) AS n FROM request_nonces WHERE expires_at = '2020-01-01'");
    return Number(row!['n']);
  };
  let isStopping = false;
  const purged = retention.purge(() => isStopping);
  await waitFor('it has begun', async () => (await countLeft()) < count, { intervalMs: 1 });
  isStopping = true;
  await purged;
  const left = await countLeft();
  expect(left).toBeGreaterThan(0);
  await retention.purge();
  expect(await countLeft()).toBe(0);
});

/** Stores an old row in each of these tables, of which the purge deletes in this order. */
async function storeOldRows() {
  await query(
    `INSERT INTO sms_receipts_unmatched (gateway, reference, received_at) VALUES ('a', 'a', '2020-01-01')`,
  );
  await query(
    `INSERT INTO sms_parts (gateway, reference, sms_id, part, taken_at) VALUES ('a', 'a', '', 1, '2020-01-01')`,
  );
  await query(`INSERT INTO sms_inbound_parts VALUES ('a', 'a', 'a', 1, 2, 1, 'a', '2020-01-01')`);
  await query(`INSERT INTO sms_gateway_posts (gateway, digest, received_at) VALUES ('a', '', '2020-01-01')`);
  const tables = ['sms_receipts_unmatched', 'sms_parts', 'sms_inbound_parts', 'sms_gateway_posts'];
  return {
    tables,
    left: async () => {
      const counts = await Promise.all(
        tables.map(
          async (table) => (await query(`SELECT COUNT(*) AS n FROM ${table} WHERE gateway = 'a'`))[0]!.n,
        ),
      );
      return counts.map(Number);
    },
  };
}

test('a purge that is to stop ends with the kind in progress', async () => {
  const { left } = await storeOldRows();
  for (let questions = 0; (await left())[0] === 1; questions += 1) {
    let asked = 0;
    await retention.purge(() => ++asked > questions);
  }
  expect(await left()).toEqual([0, 1, 1, 1]);
  await retention.purge();
  expect(await left()).toEqual([0, 0, 0, 0]);
});

test('three outages in a row end a purge', async () => {
  const { tables, left } = await storeOldRows();
  for (const table of tables.slice(0, 3))
    await query(`CREATE TRIGGER ${table}_away BEFORE DELETE ON ${table} FOR EACH ROW
      SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1053`);
  const purged = await retention.purge().catch((error: unknown) => error);
  for (const table of tables.slice(0, 3)) await query(`DROP TRIGGER ${table}_away`);
  expect(purged).toMatchObject({ code: 'service_unavailable' });
  expect(await left()).toEqual([1, 1, 1, 1]);
  await retention.purge();
  expect(await left()).toEqual([0, 0, 0, 0]);
});

test('a kind that cannot be deleted, and one at the start, keep no other kind', async () => {
  changeSettings({ SMTP_URL: (await startSmtpSink()).url });
  const email = await acceptEmail(own);
  expect(await attemptEmail(email.id)).toBe('done');
  const event = await oldEvent();
  await advanceClock(91 * dayMs);
  await query(
    "INSERT INTO request_nonces (key_id, nonce_hash, expires_at) VALUES (UNHEX(LEFT(SHA2('a', 256), 32)), UNHEX(SHA2('a', 256)), '2020-02-02')",
  );
  const nonces = () => query("SELECT 1 FROM request_nonces WHERE expires_at = '2020-02-02'");
  const tables = ['sms_imports', 'webhook_attempts'];
  for (const table of tables) await query(`RENAME TABLE ${table} TO ${table}_away`);
  takeCounts();
  const purged = await retention.purge().catch((error: Error) => error);
  for (const table of tables) await query(`RENAME TABLE ${table}_away TO ${table}`);
  expect(String(purged)).toContain('sms_imports');
  expect(await nonces()).toEqual([]);
  expect(await findEmail(own.workspaceId, email.id)).toBeNull();
  expect(await isKept(event)).toBe(false);
  expect(takeCounts().map(([name]) => name)).not.toContain('purge_runs');
  await retention.purge();
  expect(takeCounts()).toContainEqual(['purge_runs', 1]);
});

test('a workspace that cannot be recounted does not keep the purge from its work', async () => {
  const email = await oldEvent();
  await advanceClock(8 * dayMs);
  await query(`CREATE TRIGGER refuse_recount BEFORE UPDATE ON waiting_counts FOR EACH ROW
    IF NEW.recounts <> OLD.recounts THEN SIGNAL SQLSTATE '45000'; END IF`);
  onTestFinished(() => query('DROP TRIGGER refuse_recount').then(() => undefined));
  const { stop } = await runWorkers(['purge-expired']);
  await waitFor('the old event is gone', async () => !(await isKept(email)));
  await stop();
});

test('the job is asked for by every worker and runs once for each stretch of time', async () => {
  const email = await oldEvent();
  await advanceClock(8 * dayMs);
  const queue = queueOf(purgeExpired.lanes.default);
  // The jobs of earlier tests.
  await queue.obliterate({ force: true });
  const workers = await Promise.all([runWorkers(['purge-expired']), runWorkers(['purge-expired'])]);
  await waitFor('the old event is gone', async () => !(await isKept(email)));
  await waitFor('the run is over', async () => (await queue.getActiveCount()) === 0);
  expect(await queue.getCompletedCount()).toBeLessThanOrEqual(2);
  for (const { stop } of workers) await stop();
});
