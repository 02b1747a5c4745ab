// @slow: it starts, stops and breaks processes of the platform.
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { beforeAll, expect, test } from 'vitest';
import { password, samples } from '../../api/ops/metrics-page.ts';
import { type Client, clientOf } from '../../support/api/api-client.ts';
import { workspace } from '../../support/data/factory.ts';
import { postEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { type PlatformProcess, startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type OwnServer, startOwnRedis } from '../../support/servers/own-servers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let redis: OwnServer;
beforeAll(async () => {
  redis = await startOwnRedis();
  changeSettings({ REDIS_URL: redis.url });
});
useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
let web: PlatformProcess;
let worker: PlatformProcess;
let api: Client;
beforeAll(async () => {
  [own, sink] = await Promise.all([workspace(), startSmtpSink()]);
  // The delay keeps some work in progress at all times.
  const relay = await startTcpProxy(sink.url);
  relay.delay(5);
  const limits = { RATE_LIMIT_PER_SECOND: '1000', WORKSPACE_RATE_LIMIT_PER_SECOND: '2000' };
  const [server, workers] = await Promise.all([
    startWeb({ OPS_PASSWORD: password, ...limits }),
    startWorkerProcess(['send-email', 'sweep'], { SMTP_URL: relay.url, EMAIL_CONCURRENCY: '10' }),
  ]);
  [web, worker, api] = [server, workers, clientOf(server.url)];
});

// The limit is long because a busy machine is slow.
const limit = { timeoutMs: 120_000 };
let number = 0;
/** Sends `count` emails, a few at a time, and returns their recipients. */
async function send(count: number): Promise<string[]> {
  const recipients = Array.from({ length: count }, () => `person-${(number += 1)}@example.com`);
  const waiting = [...recipients];
  const sendOn = async () => {
    for (let recipient = waiting.shift(); recipient; recipient = waiting.shift())
      expect((await postEmail(api, own, { recipient })).status).toBe(201);
  };
  await Promise.all(Array.from({ length: 4 }, sendOn));
  return recipients;
}

const copiesTo = (recipient: string) =>
  sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).length;

/** Waits until all emails have arrived and count as sent, and checks that none came twice. */
async function arriveOnce(recipients: string[]): Promise<void> {
  await waitFor('all have arrived', () => recipients.every((recipient) => copiesTo(recipient) > 0), limit);
  await waitFor(
    'all count as sent',
    async () => {
      const { body } = await api.request('GET', '/v2/email?status=queued', { key: own.key });
      return body.data.length === 0;
    },
    limit,
  );
  for (const recipient of recipients) expect([recipient, copiesTo(recipient)]).toEqual([recipient, 1]);
  expect([web.isRunning(), worker.isRunning()]).toEqual([true, true]);
}

// Shows F16
test('Redis is killed amid sending and comes back with what it wrote down: all is accepted, and arrives once', async () => {
  const before = await send(40);
  await redis.kill();
  const meanwhile = await send(40);
  // The health check asks Redis at most once a second.
  await waitFor('ready says that Redis is away', async () => {
    const { body } = await api.request('GET', '/health/ready');
    return body.ready === true && body.redis === 'down';
  });
  await redis.start();
  const after = await send(10);
  await arriveOnce([...before, ...meanwhile, ...after]);
});

// Shows F18
test('Redis hangs for longer than any lock lasts: requests are as quick as ever, and nothing is done twice', async () => {
  const undisturbed = await send(40);
  redis.freeze();
  // The locks of BullMQ end after 4 seconds, also where Redis is frozen and their holders cannot renew them.
  const over = sleep(5_000);
  // Redis goes on only after these sends, so a request that waited for Redis would get no answer here.
  const frozen = await send(60);
  await over;
  redis.thaw();
  await arriveOnce([...undisturbed, ...frozen]);
});

// Shows F19
test('Redis is full: all is accepted, the operator is told, and it goes out once there is room', async () => {
  const control = new Redis(redis.url);
  const before = await send(20);
  await control.config('SET', 'maxmemory', '1mb');
  const meanwhile = await send(40);
  const page = await waitFor('the metrics show it', async () => {
    const seen = await samples(api);
    return (
      seen.get('messaging_redis_memory_bytes')! > seen.get('messaging_redis_memory_limit_bytes')! && seen
    );
  });
  expect(page.get('messaging_redis_memory_limit_bytes')).toBe(1024 * 1024);
  await waitFor('the log says it', () => web.output().includes('Redis is full'));
  await waitFor(
    'the metrics show that work waits',
    async () => (await samples(api)).get('messaging_oldest_due_seconds{work="email_transactional"}')! > 0,
  );
  await control.config('SET', 'maxmemory', '0');
  control.disconnect();
  await arriveOnce([...before, ...meanwhile]);
  await waitFor(
    'what was missed is counted',
    async () => (await samples(api)).get('messaging_wake_ups_failed_total')! > 0,
  );
});
