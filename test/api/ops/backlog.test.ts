import { afterEach, beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { queueNames } from '../../../shared/jobs/index.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { messagesTo, newBatch } from '../../support/data/new-batch.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { textingWorkspace } from '../../support/data/new-sms.ts';
import { sampleContent } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { password, samples, shows } from './metrics-page.ts';

let line: TcpProxy;
beforeAll(async () => {
  line = await startTcpProxy(config.REDIS_URL, 6379);
  changeSettings({ REDIS_URL: line.url, OPS_PASSWORD: password });
});
useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});
// The cleanup at the end of the file needs the connection to Redis.
afterEach(() => line.pass());

// Shows F14
test('it says for each kind of work how long the longest waiting has been due', async () => {
  const mine = await workspace();
  const scheduledAt = new Date(now().getTime() + 600_000).toISOString();
  await sendEmail(api, mine, { kind: 'transactional', scheduledAt });
  await sendEmail(api, mine, { kind: 'authentication' });
  await advanceClock(100_000);
  const after = await samples(api);
  const age = (seen: Map<string, number>, work: string) =>
    seen.get(`messaging_oldest_due_seconds{work="${work}"}`) as number;
  for (const [work, least] of [
    ['email_authentication', 100],
    ['event', 100],
  ] as const) {
    expect(age(after, work)).toBeGreaterThanOrEqual(least);
    expect(age(after, work)).toBeLessThan(least + 3600);
  }
  expect(age(after, 'email_transactional')).toBe(0);
  expect(age(after, 'webhook_delivery')).toBe(0);
});

test('it says how many batches of texts are in each state, how many rows wait, and since when', async () => {
  const own = await textingWorkspace();
  const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
  await newBatch(api, own, { messages: messagesTo(2) });
  await newBatch(api, own, { messages: messagesTo(3), scheduledAt });
  await newBatch(api, own, { messages: messagesTo(4), scheduledAt });
  await advanceClock(100_000);
  const seen = await samples(api);
  const of = (name: string, status: string) => seen.get(`messaging_${name}{status="${status}"}`);
  expect(['processing', 'scheduled', 'paused'].map((status) => of('sms_batches', status))).toEqual([1, 2, 0]);
  expect(['processing', 'scheduled'].map((status) => of('sms_batch_rows_waiting', status))).toEqual([2, 7]);
  expect(seen.get('messaging_oldest_due_seconds{work="sms_batch"}')).toBeGreaterThanOrEqual(100);
  expect(seen.get('messaging_batches_accepted_total{source="messages"}')).toBeGreaterThanOrEqual(3);
});

test('it says how many senders wait for a decision, and for how long', async () => {
  const own = await workspace();
  const ask = (countries: string[]) =>
    api.request('POST', '/v2/senders', {
      key: own.key,
      body: { name: 'Acme', sampleContent, countries },
    });
  const left = async () => {
    const page = await samples(api);
    return {
      senders: page.get('messaging_senders_to_review'),
      seconds: page.get('messaging_oldest_sender_to_review_seconds')!,
    };
  };
  expect(await left()).toEqual({ senders: 0, seconds: 0 });
  const asked = await ask(['GB', 'IE']);
  expect([asked.status, asked.body.status]).toEqual([201, 'pending']);
  const { id } = asked.body;
  await advanceClock(100_000);
  expect((await left()).senders).toBe(1);
  expect((await left()).seconds).toBeGreaterThanOrEqual(100);
  await admin('sender', 'approve', id, 'GB', 'IE');
  expect(await left()).toEqual({ senders: 0, seconds: 0 });
  // The time of the new request counts, not that of the sender.
  await ask(['FR']);
  expect((await left()).senders).toBe(1);
  expect((await left()).seconds).toBeLessThan(90);
});

test('it says how many jobs each queue holds, by state', async () => {
  const mine = await workspace();
  const depth = async (queue: string, state: string) =>
    (await samples(api)).get(`messaging_queue_jobs{queue="${queue}",state="${state}"}`);
  for (const queue of queueNames) expect(await depth(queue, 'waiting')).toBeGreaterThanOrEqual(0);
  const waiting = (await depth('send-email-marketing', 'waiting'))!;
  const delayed = (await depth('send-email-marketing', 'delayed'))!;
  await sendEmail(api, mine, { kind: 'marketing' });
  await sendEmail(api, mine, { kind: 'marketing' });
  const scheduledAt = new Date(now().getTime() + 600_000).toISOString();
  await sendEmail(api, mine, { kind: 'marketing', scheduledAt });
  await shows(api, {
    'messaging_queue_jobs{queue="send-email-marketing",state="waiting"}': waiting + 2,
    'messaging_queue_jobs{queue="send-email-marketing",state="delayed"}': delayed + 1,
  });
});

test('while Redis is away the page says so, and still tells what is due', async () => {
  line.refuse();
  const seen = await waitFor('the page says that Redis is away', async () => {
    const page = await samples(api);
    return page.get('messaging_redis_up') === 0 && page;
  });
  expect(seen.has('messaging_oldest_due_seconds{work="email_transactional"}')).toBe(true);
  expect([...seen.keys()].some((name) => name.startsWith('messaging_queue_jobs'))).toBe(false);
  await line.pass();
  await shows(api, { messaging_redis_up: 1 });
});
