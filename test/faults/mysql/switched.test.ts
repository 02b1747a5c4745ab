// @slow: it starts, stops and breaks processes of the platform.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { type Client, clientOf } from '../../support/api/api-client.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { optionsOf, replicate } from '../../support/database/replication.ts';
import { type PlatformProcess, startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { ordinaryUser, startOwnMysql } from '../../support/servers/own-servers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

type OwnMysql = Awaited<ReturnType<typeof startOwnMysql>>;

let [first, second]: OwnMysql[] = [];
let pair: Awaited<ReturnType<typeof replicate>>;
let line: TcpProxy;
beforeAll(async () => {
  [first, second] = await Promise.all([1, 2].map((id) => startOwnMysql({ options: optionsOf(id) })));
  pair = await replicate(first!, second!);
  line = await startTcpProxy(await ordinaryUser(first!));
  changeSettings({ MYSQL_URL: line.url });
});
useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
let processes: PlatformProcess[];
let api: Client;
beforeAll(async () => {
  [own, sink] = await Promise.all([workspace(), startSmtpSink()]);
  // The delay keeps some work in progress at all times.
  const relay = await startTcpProxy(sink.url);
  relay.delay(5);
  const [web, worker] = await Promise.all([
    startWeb({}),
    startWorkerProcess(['send-email', 'sweep'], {
      SMTP_URL: relay.url,
      EMAIL_CONCURRENCY: '10',
      // Work that was claimed but could not be marked as begun waits until its lease ends.
      SMTP_TIMEOUT_SECONDS: '2',
      WEBHOOK_TIMEOUT_SECONDS: '2',
      LEASE_SECONDS: '5',
    }),
  ]);
  processes = [web, worker];
  api = clientOf(web.url);
});

// The limit is long because a busy machine is slow.
const limit = { timeoutMs: 120_000 };
const emails = 120;
const accepted = new Set<string>();

/** Sends an email again under the same Idempotency-Key until it is accepted, as the API allows. */
async function sendUntilAccepted(recipient: string): Promise<void> {
  const idempotencyKey = randomUUID();
  await waitFor(
    `${recipient} is accepted`,
    async () => {
      const { status } = await api.request('POST', '/v2/email', {
        key: own.key,
        headers: { 'idempotency-key': idempotencyKey },
        body: newEmail(own, { recipient }),
      });
      expect([201, 409, 503]).toContain(status);
      return status === 201;
    },
    limit,
  );
  accepted.add(recipient);
}

// Shows F39
test('the primary of MySQL is switched under load, and old connections stay where they are: all is accepted and sent, once', async () => {
  const recipients = Array.from({ length: emails }, (_, index) => `person-${index}@example.com`);
  const waiting = [...recipients];
  const sendOn = async () => {
    for (let recipient = waiting.shift(); recipient; recipient = waiting.shift())
      await sendUntilAccepted(recipient);
  };
  const sending = Promise.all(Array.from({ length: 4 }, sendOn));
  await waitFor('some are accepted', () => accepted.size >= emails / 3, limit);
  await pair.switchOver();
  const sentBefore = sink.messages.length;
  // Proxies and DNS need about this long to learn of the switch.
  await sleep(300);
  line.redirect(second!.url);
  await sending;
  const copiesTo = (recipient: string) =>
    sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).length;
  await waitFor('all have arrived', () => recipients.every((recipient) => copiesTo(recipient) > 0), limit);
  await waitFor(
    'all count as sent',
    async () => {
      const { body } = await api.request('GET', '/v2/email?status=queued', { key: own.key });
      return body.data?.length === 0;
    },
    limit,
  );
  for (const recipient of recipients) expect([recipient, copiesTo(recipient)]).toEqual([recipient, 1]);
  expect(sentBefore).toBeLessThan(emails);
  expect(processes.map((one) => one.isRunning())).toEqual([true, true]);
}, 300_000);
