// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { deliverWebhook } from '../../../shared/jobs/deliver-webhook.ts';
import { sendEmail } from '../../../shared/jobs/send-email.ts';
import { sendSms } from '../../../shared/jobs/send-sms.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { startApi } from '../../support/api/start-api.ts';
import { deliveriesOf, makeWebhook } from '../../support/data/deliveries.ts';
import { acceptMany, emailCounts } from '../../support/data/email-rows.ts';
import { sendSms as acceptSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmsc } from '../../support/servers/smsc.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const count = 5;
const names = ['send-email', 'send-sms', 'deliver-webhook'];
const jobs = [sendEmail, sendSms, deliverWebhook];

// Shows F21
test('Redis and MySQL are away for longer than a lease: nobody sends again what a living worker has sent', async () => {
  const { promise: release, resolve: answerAll } = Promise.withResolvers<void>();
  const [own, sink, receiver, smsc, api, mysql, redis] = await Promise.all([
    textingWorkspace(),
    startSmtpSink(),
    startWebhookReceiver(),
    startSmsc(),
    startApi(),
    startTcpProxy(config.MYSQL_URL, 3306),
    startTcpProxy(config.REDIS_URL, 6379),
  ]);
  sink.holdUntil(release);
  smsc.submit = (_, nth) => release.then(() => ({ id: `m${nth}` }));
  receiver.respondWith(() => release.then(() => ({ status: 200 })));
  const gateways = JSON.stringify([
    { name: 'carrier', type: 'smpp', url: `smpp://acme:secret@127.0.0.1:${smsc.port}` },
  ]);
  const webhook = await makeWebhook(own, receiver.url);
  await acceptMany(own, count);
  await relay.relayAll();
  for (let nth = 0; nth < count; nth += 1)
    await acceptSms(api, own, { recipient: `+44740700000${nth}`, content: 'Hello' });
  const worker = await startWorkerProcess(names, {
    MYSQL_URL: mysql.url,
    REDIS_URL: redis.url,
    SMTP_URL: sink.url,
    WEBHOOK_TIMEOUT_SECONDS: '60',
    SMS_TIMEOUT_SECONDS: '60',
    SMS_GATEWAYS: gateways,
  });
  await receiver.waitFor(count);
  await waitFor('the carrier has all', () => smsc.taken.length === count);
  await sink.waitFor(count);
  mysql.refuse();
  redis.refuse();
  answerAll();
  expect((await query('SELECT id FROM emails WHERE lease_token IS NOT NULL')).length).toBe(count);

  // The lease of a text is twice the longest time of its hand-over (SMS_TIMEOUT_SECONDS).
  await advanceClock(Math.max(config.LEASE_SECONDS, 120) * 1000 + 3_000);
  changeSettings({ SMTP_URL: sink.url, SMS_GATEWAYS: gatewayList.parse(gateways) });
  const other = await runWorkers(names);
  const left = async () => {
    const lanes = jobs.flatMap((job): string[] => Object.values(job.lanes));
    const lists = await Promise.all(
      lanes.map((lane) => queueOf(lane).getJobs(['active', 'waiting', 'delayed'])),
    );
    return lists.flat().length;
  };
  await waitFor('the other worker has had the jobs', async () => (await left()) === 0);
  await mysql.pass();
  await redis.pass();
  await waitFor('the emails are sent', async () => (await emailCounts(own)).sent === count);
  const textsSent = async () =>
    (await query("SELECT id FROM sms_messages WHERE status = 'sent'")).length === count;
  await waitFor('and the texts', textsSent);
  const delivered = async () =>
    (await deliveriesOf(webhook.id)).every(({ status }) => status === 'delivered');
  await waitFor('and the deliveries', delivered);
  await other.stop();
  await worker.stop();
  expect([sink.messages.length, smsc.taken.length, receiver.requests.length]).toEqual(Array(3).fill(count));
});
