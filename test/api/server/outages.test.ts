import type { Redis } from 'ioredis';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { producerConnection } from '../../../shared/queue/queue.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { postEmail, sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let mysql: TcpProxy;
let redis: TcpProxy;
beforeAll(async () => {
  mysql = await startTcpProxy(config.MYSQL_URL, 3306);
  redis = await startTcpProxy(config.REDIS_URL, 6379);
  changeSettings({ MYSQL_URL: mysql.url, REDIS_URL: redis.url });
});
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  api = await startApi();
  own = await workspace();
});
afterEach(async () => {
  await mysql.pass();
  await redis.pass();
});
beforeEach(async () => {
  await waitFor('all is well', async () => {
    const { status, body } = await api.request('GET', '/health/ready');
    return status === 200 && body.redis === 'up';
  });
});

const others = 8;

test.each(['refuse', 'freeze'] as const)(
  'while Redis is away (%s) an email is accepted at once, and goes out when it is back',
  async (fault) => {
    const recipient = `${fault}@example.com`;
    redis[fault]();
    const { options } = producerConnection() as Redis;
    const { commandTimeout } = options;
    // If a request waited for Redis, it would now wait for ever, and so would the test.
    options.commandTimeout = 3_600_000;
    const { id } = await sendEmail(api, own, { recipient });
    for (let count = 0; count < others; count += 1) await sendEmail(api, own);
    const scheduledAt = new Date(Date.now() + 3_600_000_000).toISOString();
    const scheduled = await sendEmail(api, own, { scheduledAt });
    expect((await api.request('DELETE', `/v2/email/${scheduled.id}`, { key: own.key })).status).toBe(200);
    Object.assign(options, { commandTimeout });
    await redis.pass();
    await advanceClock(3_000);
    const workers = await runWorkers(['send-email', 'sweep']);
    await sink.waitFor((messages) => messages.some(({ envelope }) => envelope.to.includes(recipient)));
    const read = await api.request('GET', `/v2/email/${id}`, { key: own.key });
    expect(['queued', 'sent']).toContain(read.body.status);
    await workers.stop();
  },
);

// Shows F15
test('while Redis is away the service is ready, and says so', async () => {
  redis.refuse();
  await waitFor('Redis is known to be away', async () => {
    const { status, body } = await api.request('GET', '/health/ready');
    expect(status).toBe(200);
    return body.mysql === 'up' && body.redis === 'down';
  });
});

// Shows F21
test('while MySQL is away a request is refused with 503 and Retry-After, and nothing is kept of it', async () => {
  mysql.refuse();
  const clientReference = 'refused';
  for (let count = 0; count < 3; count += 1) {
    const { status, headers, body } = await postEmail(api, own, { clientReference });
    expect(status).toBe(503);
    expect(body.type).toBe(`${api.url}/problems/service_unavailable`);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.stringify(body)).not.toMatch(/ECONN|mysql|SELECT|INSERT/i);
  }
  expect((await api.request('GET', '/health/ready')).status).toBe(503);
  expect((await api.request('GET', '/health/live')).status).toBe(200);
  await mysql.pass();
  await waitFor(
    'the service is ready again',
    async () => (await api.request('GET', '/health/ready')).status === 200,
  );
  const listed = await api.request('GET', `/v2/email?clientReference=${clientReference}`, { key: own.key });
  expect(listed.body.data).toEqual([]);
});
