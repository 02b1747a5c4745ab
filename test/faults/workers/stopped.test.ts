// @slow: it starts, stops and breaks processes of the platform.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { makeContacts } from '../../support/data/address-book.ts';
import { countsOf, makeWebhook } from '../../support/data/deliveries.ts';
import { acceptMany, emailCounts } from '../../support/data/email-rows.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

// The limit is long because a busy machine is slow.
const limit = { timeoutMs: 120_000 };
const count = 40;
const contacts = 2_000;
const tables = ['emails', 'sms_messages', 'webhook_deliveries'];

const held = async (table: string) =>
  (await query(`SELECT id FROM ${table} WHERE lease_token IS NOT NULL`)).length;

// Shows F12
test('a worker with emails, texts, deliveries and a list copy in progress is stopped: it leaves nothing half done or twice, and has told of a short grace once', async () => {
  changeSettings({ LIST_COPY_WAIT_SECONDS: 0 });
  const [own, sink, receiver, api, mysql] = await Promise.all([
    textingWorkspace(),
    startSmtpSink(),
    startWebhookReceiver({ respond: { delayMs: 300 } }),
    startApi(),
    startTcpProxy(config.MYSQL_URL, 3306),
  ]);
  const relay = await startTcpProxy(sink.url);
  relay.delay(50);
  mysql.delay(20);
  await makeContacts(own, contacts);
  const webhook = await makeWebhook(own, receiver.url);
  const call = async (method: string, at: string, body?: object) =>
    (await api.request(method, `/v2/contact-lists${at}`, { key: own.key, ...(body && { body }) })).body;
  const all = (await call('GET', '')).data.find(({ kind }: { kind: string }) => kind === 'builtin').id;
  const into = (await call('POST', '', { name: 'Copies' })).id as string;
  const first = await startWorkerProcess([], {
    SMTP_URL: relay.url,
    MYSQL_URL: mysql.url,
    EMAIL_CONCURRENCY: '10',
    SMS_CONCURRENCY: '5',
    WEBHOOK_IN_FLIGHT_PER_WEBHOOK: '5',
    SHUTDOWN_SECONDS: '20',
  });
  // It may have to stop amid a hand-over, so it says so once.
  expect(first.output().split('SHUTDOWN_SECONDS is 20')).toHaveLength(2);
  await Promise.all([
    acceptMany(own, count),
    ...Array.from({ length: count }, () => sendSms(api, own)),
    call('POST', `/${into}/contacts`, { fromLists: [all] }),
  ]);
  const inFlight = async () => (await Promise.all(tables.map(held))).every((rows) => rows > 0);
  await waitFor('some of each are claimed', inFlight, { intervalMs: 1 });
  expect((await first.stop()).code).toBe(0);

  const left = await Promise.all(tables.map(held));
  const { sent } = await emailCounts(own);
  process.stdout.write(
    `stopped with ${sent} of ${count} emails sent; claimed afterwards: ${left.join(', ')}\n`,
  );
  expect(left).toEqual([0, 0, 0]);
  expect(sent).toBeLessThan(count);
  expect(sink.messages).toHaveLength(sent);

  await mysql.pass();
  await relay.pass();
  changeSettings({ SMTP_URL: sink.url });
  const second = await runWorkers();
  await waitFor('the next one sends the rest', async () => (await emailCounts(own)).sent === count, limit);
  await waitFor('and delivers it', async () => (await countsOf(webhook.id)).delivered === count, limit);
  const onPhones = () => query("SELECT content FROM simulator_messages WHERE direction = 'outbound'");
  await waitFor('and the texts', async () => (await onPhones()).length >= count, limit);
  await waitFor('and copies', async () => !(await call('GET', `/${into}`)).copyInProgress, limit);
  await second.stop();

  expect(sink.messages).toHaveLength(count);
  expect(receiver.requests).toHaveLength(count);
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(count);
  expect(await onPhones()).toHaveLength(count);
  const [members] = await query('SELECT COUNT(*) AS n FROM contact_list_members WHERE list_id = ?', [
    idToBytes(into),
  ]);
  expect(Number(members!['n'])).toBe(contacts);
});
