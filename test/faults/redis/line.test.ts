// @slow: it starts, stops and breaks processes of the platform.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const recipientsOf = ({ messages }: SmtpSink) => messages.flatMap(({ envelope }) => envelope.to).toSorted();
const people = (count: number) =>
  Array.from({ length: count }, (_, index) => `person-${String(index).padStart(3, '0')}@example.com`);

// Shows F15, F20
test('Redis is away when web and workers start, comes, and has every connection reset again and again: all emails are accepted, and each arrives once', async () => {
  const [own, sink, redis] = await Promise.all([
    workspace(),
    startSmtpSink(),
    startTcpProxy(config.REDIS_URL, 6379),
  ]);
  redis.refuse();
  const settings = { REDIS_URL: redis.url, SMTP_URL: sink.url };
  const [web, worker] = await Promise.all([
    startWeb(settings),
    startWorkerProcess(['send-email', 'sweep'], settings),
  ]);
  const api = clientOf(web.url);
  const ready = await api.request('GET', '/health/ready');
  expect([ready.status, ready.body]).toEqual([200, { ready: true, mysql: 'up', redis: 'down' }]);
  const waiting = people(80);
  for (const recipient of waiting.splice(0, 20)) await sendEmail(api, own, { recipient });
  expect(sink.messages).toHaveLength(0);
  await redis.pass();
  await sink.waitFor(20, { timeoutMs: 120_000 });

  while (waiting.length > 0) {
    for (const recipient of waiting.splice(0, 10)) await sendEmail(api, own, { recipient });
    redis.cut();
    await waitFor('the lines are open again', () => redis.connections() > 0);
  }
  await sink.waitFor(80, { timeoutMs: 120_000 });
  await waitFor('all count as sent', async () => {
    const { body } = await api.request('GET', '/v2/email?status=sent&limit=200', { key: own.key });
    return body.data.length === 80;
  });
  expect((await worker.stop()).code).toBe(0);
  expect(recipientsOf(sink)).toEqual(people(80));
});
