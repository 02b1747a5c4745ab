// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { startApi } from '../../support/api/start-api.ts';
import { deliveriesOf, makeWebhook } from '../../support/data/deliveries.ts';
import { acceptMany, emailCounts } from '../../support/data/email-rows.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsOf } from '../../support/database/rows.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmsc } from '../../support/servers/smsc.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const count = 5;
const names = ['send-email', 'send-sms', 'deliver-webhook', 'sweep'];

// Shows F13
test('a worker hangs for longer than its lease: another does its work, and when it goes on it changes no row', async () => {
  const { promise: release, resolve: answerAll } = Promise.withResolvers<void>();
  const [own, sink, receiver, smsc, api] = await Promise.all([
    textingWorkspace(),
    startSmtpSink({ mode: 'hang after the dot' }),
    startWebhookReceiver(),
    startSmsc(),
    startApi(),
  ]);
  smsc.submit = (_, nth) => release.then(() => ({ id: `late-${nth}` }));
  const gateways = JSON.stringify([
    { name: 'carrier', type: 'smpp', url: `smpp://acme:secret@127.0.0.1:${smsc.port}` },
  ]);
  receiver.respondWith(() => release.then(() => ({ status: 500 })));
  const webhook = await makeWebhook(own, receiver.url);
  await acceptMany(own, count);
  await relay.relayAll();
  // Each text has two parts, whose common reference lets a phone recognize a second copy.
  for (let nth = 0; nth < count; nth += 1)
    await sendSms(api, own, { recipient: `+44740700000${nth}`, content: 'x'.repeat(200) });
  const late = await startWorkerProcess(names, {
    SMTP_URL: sink.url,
    WEBHOOK_TIMEOUT_SECONDS: '60',
    SMS_TIMEOUT_SECONDS: '60',
    SMS_GATEWAYS: gateways,
  });
  const held = async (table: string) =>
    (await query(`SELECT id FROM ${table} WHERE lease_token IS NOT NULL`)).length;
  await receiver.waitFor(count);
  await waitFor('the relay has seen all', () => sink.messages.length === count);
  await waitFor('the carrier has seen all', () => smsc.taken.length === 2 * count);
  late.freeze();
  expect([await held('emails'), await held('sms_messages'), await held('webhook_deliveries')]).toEqual([
    count,
    count,
    count,
  ]);

  sink.setMode('accept');
  receiver.respondWith({ status: 200 });
  smsc.submit = (_, nth) => ({ id: `m${nth}` });
  // The lease of a text is twice the longest time of its hand-over (SMS_TIMEOUT_SECONDS).
  await advanceClock(Math.max(config.LEASE_SECONDS, 120) * 1000 + 3_000);
  changeSettings({ SMTP_URL: sink.url, SMS_GATEWAYS: gatewayList.parse(gateways) });
  const next = await runWorkers(names);
  await waitFor('another worker has sent the emails', async () => (await emailCounts(own)).sent === count);
  const textsSent = async () =>
    (await query("SELECT id FROM sms_messages WHERE status = 'sent'")).length === count;
  await waitFor('and the texts', textsSent);
  const delivered = async () =>
    (await deliveriesOf(webhook.id)).every(({ status }) => status === 'delivered');
  await waitFor('and delivered the deliveries', delivered);
  await next.stop();

  const before = await rowsOf(own.workspaceId);
  late.thaw();
  // The thawed worker gets its late answers: from the endpoint a failure, from the relay none.
  answerAll();
  sink.dropConnections();
  // The late worker finishes its work in order.
  expect((await late.stop()).code).toBe(0);
  expect(await rowsOf(own.workspaceId)).toEqual(before);

  expect(sink.messages).toHaveLength(2 * count);
  const messages = Map.groupBy(sink.messages, ({ raw }) => raw.toString());
  expect([...messages.values()].map((copies) => copies.length)).toEqual(Array(count).fill(2));
  const requests = Map.groupBy(receiver.requests, ({ headers, body }) => headers['webhook-id']! + body);
  expect([...requests.values()].map((copies) => copies.length)).toEqual(Array(count).fill(2));
  // Both copies of a part have the same recipient and reference, so a phone shows the text once.
  const texts = Map.groupBy(
    smsc.taken,
    ({ destination, message }) => `${destination.address} ${message.toString('hex')}`,
  );
  expect([...texts.values()].map((copies) => copies.length)).toEqual(Array(2 * count).fill(2));
});

// Shows F13
test('the locks of a process that hangs amid a transaction are free again after a minute', async () => {
  // MySQL itself then ends the idle session, so the test checks only the timeout that the session has.
  const [session] = await query('SELECT @@SESSION.wait_timeout AS seconds');
  expect(session).toEqual({ seconds: 60 });
});
