import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { query } from '../../shared/db/client.ts';
import { attempt as attemptEmail } from '../../shared/domain/email/delivery/delivery.ts';
import { attempt as attemptDelivery } from '../../shared/domain/webhooks/deliveries/deliveries.ts';
import { acceptEmail } from '../support/data/accepted-email.ts';
import { dueDelivery } from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { advanceClock } from '../support/time/advance-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

let mysql: TcpProxy;
beforeAll(async () => {
  mysql = await startTcpProxy(config.MYSQL_URL, 3306);
  changeSettings({ MYSQL_URL: mysql.url });
});
useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  const slow = await startTcpProxy(sink.url);
  slow.delay(40);
  changeSettings({ SMTP_URL: slow.url });
  own = await workspace();
});
// The cleanup at the end of the file needs the database.
afterEach(async () => {
  await mysql.pass();
  await waitFor('the database answers', () => query('SELECT 1'));
});

/** Keeps the database away until this process has failed to reach it several times. */
async function away(): Promise<void> {
  let failures = 0;
  const watch = (message: unknown) =>
    void (message as { socket: Socket }).socket.once('error', () => (failures += 1));
  subscribe('net.client.socket', watch);
  mysql.refuse();
  // The clock asks the database for the time every few seconds, so its failures count too.
  await waitFor('it is asked for in vain', () => failures >= 4);
  unsubscribe('net.client.socket', watch);
}

// Shows F21
test('an email that the relay took while the database was away is not sent again when it is back', async () => {
  const recipient = 'once@example.com';
  const email = await acceptEmail(own, { recipient });
  const sending = attemptEmail(email.id);
  const arrived = () => sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).length;
  await waitFor('the relay has it', () => arrived() === 1, { intervalMs: 1 });
  await away();
  await mysql.pass();
  expect(await sending).toBe('done');
  expect((await email.read()).status).toBe('sent');
  await advanceClock(200_000);
  expect(await attemptEmail(email.id)).toBe('dropped');
  expect(arrived()).toBe(1);
});

test('a delivery that the endpoint took while the database was away is not posted again when it is back', async () => {
  const receiver = await startWebhookReceiver({ respond: { delayMs: 100 } });
  const { id, read } = await dueDelivery(own, receiver.url);
  const posting = attemptDelivery(id);
  await receiver.waitFor(1);
  await away();
  await mysql.pass();
  expect(await posting).toBe('done');
  expect((await read()).status).toBe('delivered');
  await advanceClock(200_000);
  expect(await attemptDelivery(id)).toBe('dropped');
  expect(receiver.requests).toHaveLength(1);
});
