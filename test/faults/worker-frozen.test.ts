import { expect, test } from 'vitest';
import { config } from '../../shared/config.ts';
import { query } from '../../shared/db/client.ts';
import * as relay from '../../shared/domain/relay.ts';
import { advanceClock } from '../support/advance-clock.ts';
import { useDatabase } from '../support/database.ts';
import { deliveriesOf, makeWebhook } from '../support/deliveries.ts';
import { acceptMany, emailCounts } from '../support/email-rows.ts';
import { workspace } from '../support/factory.ts';
import { startWorkerProcess } from '../support/processes.ts';
import { rowsOf } from '../support/rows.ts';
import { runWorkers } from '../support/run-workers.ts';
import { changeSettings } from '../support/settings.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

useDatabase();

const count = 5;
const names = ['send-email', 'deliver-webhook', 'sweep'];

// Shows F13
test('a worker hangs for longer than its lease: another does its work, and when it goes on it changes no row', async () => {
  const { promise: release, resolve: answerAll } = Promise.withResolvers<void>();
  const [own, sink, receiver] = await Promise.all([
    workspace(),
    startSmtpSink({ mode: 'hang after the dot' }),
    startWebhookReceiver(),
  ]);
  receiver.respondWith(() => release.then(() => ({ status: 500 })));
  const webhook = await makeWebhook(own, receiver.url);
  await acceptMany(own, count);
  await relay.relayAll();
  const late = await startWorkerProcess(names, {
    SMTP_URL: sink.url,
    WEBHOOK_TIMEOUT_SECONDS: '60',
  });
  const held = async (table: string) =>
    (await query(`SELECT id FROM ${table} WHERE lease_token IS NOT NULL`)).length;
  await receiver.waitFor(count);
  await waitFor('the relay has seen all', () => sink.messages.length === count);
  late.freeze();
  expect([await held('emails'), await held('webhook_deliveries')]).toEqual([count, count]);

  sink.setMode('accept');
  receiver.respondWith({ status: 200 });
  await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
  changeSettings({ SMTP_URL: sink.url });
  const next = await runWorkers(names);
  await waitFor('another worker has sent the emails', async () => (await emailCounts(own)).sent === count);
  const delivered = async () =>
    (await deliveriesOf(webhook.id)).every(({ status }) => status === 'delivered');
  await waitFor('and delivered the deliveries', delivered);
  await next.stop();

  const before = await rowsOf(own.workspaceId);
  late.thaw();
  // Now it hears what became of it: a failure here, and no answer there.
  answerAll();
  sink.dropConnections();
  // It finishes what it had in hand.
  expect((await late.stop()).code).toBe(0);
  expect(await rowsOf(own.workspaceId)).toEqual(before);

  expect(sink.messages).toHaveLength(2 * count);
  const messages = Map.groupBy(sink.messages, ({ raw }) => raw.toString());
  expect([...messages.values()].map((copies) => copies.length)).toEqual(Array(count).fill(2));
  const requests = Map.groupBy(receiver.requests, ({ headers, body }) => headers['webhook-id']! + body);
  expect([...requests.values()].map((copies) => copies.length)).toEqual(Array(count).fill(2));
}, 150_000);

// Shows F13
test('the locks of a process that hangs amid a transaction are free again after a minute', async () => {
  // What the server then does to the connection is its own; this is what it is told.
  const [session] = await query('SELECT @@SESSION.wait_timeout AS seconds');
  expect(session).toEqual({ seconds: 60 });
});
