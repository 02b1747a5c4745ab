import { beforeAll, expect, test } from 'vitest';
import { now, nowForAll } from '../../shared/common/clock.ts';
import { config } from '../../shared/config/config.ts';
import { query } from '../../shared/db/client.ts';
import * as emails from '../../shared/db/email/emails.system.ts';
import { attempt as attemptEmail } from '../../shared/domain/email/delivery/delivery.ts';
import { attempt as attemptDelivery } from '../../shared/domain/webhooks/deliveries/deliveries.ts';
import * as recovery from '../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { sendEmail as sendEmailJob } from '../../shared/jobs/send-email.ts';
import { closeQueues, producerConnection, queueOf } from '../../shared/queue/queue.ts';
import { acceptEmail } from '../support/data/accepted-email.ts';
import { dueDelivery } from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { advanceClock, advanceClockTo, clockToleranceMs } from '../support/time/advance-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  own = await workspace();
});

const minuteMs = 60_000;
const inMinutes = (minutes: number) => new Date(now().getTime() + minutes * minuteMs);
const scheduledIn = async (minutes: number) =>
  acceptEmail(own, { scheduledAt: inMinutes(minutes).toISOString() });
const jobsOf = async (queue: string, id: string) =>
  (await queueOf(queue).getJobs(['waiting', 'delayed', 'active', 'prioritized'])).filter((job) =>
    job.id?.startsWith(id),
  );
/** Accepts an email and clears Redis once its job is there: a job that came later would undo the loss. */
async function forgottenEmail(changes: Record<string, unknown> = {}) {
  const email = await acceptEmail(own, changes);
  const { kind } = await email.read();
  const queue = sendEmailJob.lanes[kind];
  await waitFor('its job is in Redis', async () => (await jobsOf(queue, email.id)).length > 0);
  await forgetRedis();
  return email;
}
const countTo = (recipient: string) =>
  sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).length;

// Shows F2
test('every job that Redis forgot is made again: what is due, and what is near with its delay', async () => {
  const due = {
    'send-email': await forgottenEmail(),
    'send-email-marketing': await forgottenEmail({ kind: 'marketing' }),
    'send-email-authentication': await forgottenEmail({ kind: 'authentication' }),
  };
  const near = await forgottenEmail({ scheduledAt: inMinutes(10).toISOString() });
  const far = await scheduledIn(60);
  await advanceClock(3_000);
  await query('UPDATE emails SET parked = 1 WHERE id = ?', [idToBytes(near.id)]);
  const before = now().getTime();
  expect(await recovery.sweep()).toBeGreaterThanOrEqual(4);
  const after = now().getTime();
  for (const [queue, { id }] of Object.entries(due)) {
    const [job, ...more] = await jobsOf(queue, id);
    expect(job!.data).toMatchObject({ emailId: id });
    expect(more).toEqual([]);
    expect(await job!.getState()).toBe('waiting');
  }
  const [job] = await jobsOf('send-email', near.id);
  expect(await job!.getState()).toBe('delayed');
  const { dueAt } = await near.read();
  expect(job!.delay).toBeLessThanOrEqual(dueAt!.getTime() - before + clockToleranceMs);
  expect(job!.delay).toBeGreaterThanOrEqual(dueAt!.getTime() - after - clockToleranceMs);
  expect(await jobsOf('send-email', far.id)).toEqual([]);
});

test('a scheduled email enters Redis only a quarter of an hour before its time, and is then no longer parked', async () => {
  const email = await scheduledIn(60);
  await recovery.sweep();
  expect(await jobsOf('send-email', email.id)).toEqual([]);
  const { scheduledAt } = await email.read();
  const wakeMs = config.WAKE_AHEAD_SECONDS * 1000;
  await advanceClockTo(new Date(scheduledAt!.getTime() - wakeMs - 60_000));
  await recovery.sweep();
  expect(await jobsOf('send-email', email.id)).toEqual([]);
  await advanceClockTo(new Date(scheduledAt!.getTime() - wakeMs));
  const before = now().getTime();
  await recovery.sweep();
  const [job] = await jobsOf('send-email', email.id);
  expect(job!.delay).toBeLessThanOrEqual(scheduledAt!.getTime() - before + clockToleranceMs);
  expect(job!.delay).toBeGreaterThan(wakeMs - 60_000);
  expect((await email.read()).parked).toBe(false);
});

// Shows F36
test('sweeping again and again makes nothing twice', async () => {
  const email = await forgottenEmail();
  await advanceClock(3_000);
  await Promise.all([recovery.sweep(), recovery.sweep(), recovery.sweep()]);
  await recovery.sweep();
  expect(await jobsOf('send-email', email.id)).toHaveLength(1);
});

test('what has been due for less than two seconds is left to its wake-up', async () => {
  const email = await forgottenEmail();
  const dueAt = new Date(now().getTime() - 500);
  await query('UPDATE emails SET due_at = ? WHERE id = ?', [dueAt, idToBytes(email.id)]);
  await recovery.sweep();
  const dueForMs = now().getTime() - dueAt.getTime();
  // On a machine that stalled meanwhile the email may already be overdue for long enough to get a job.
  if (dueForMs < 2_000) expect(await jobsOf('send-email', email.id)).toEqual([]);
  await advanceClock(3_000);
  await recovery.sweep();
  expect(await jobsOf('send-email', email.id)).toHaveLength(1);
});

test('what a dead worker held is taken up again when its lease ends, under a new job', async () => {
  const email = await forgottenEmail();
  const at = nowForAll();
  await emails.claimEmail({ id: email.id, at, until: new Date(at.getTime() + 60_000) });
  await advanceClock(50_000);
  await recovery.sweep();
  expect(await jobsOf('send-email', email.id)).toEqual([]);
  await advanceClock(13_000);
  await recovery.sweep();
  const [job] = await jobsOf('send-email', email.id);
  expect(job!.id).toBe(`${email.id}-2`);
});

test('lost deliveries come back, each in its lane', async () => {
  const mine = await workspace();
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const first = await dueDelivery(mine, receiver.url);
  const retried = await dueDelivery(await workspace(), receiver.url);
  await attemptDelivery(retried.id);
  await recovery.sweep();
  for (const [queue, { id }] of [
    ['deliver-webhook', first],
    ['deliver-webhook', retried],
    ['deliver-webhook-retry', retried],
  ] as const)
    await waitFor(`its job is in ${queue}`, async () => (await jobsOf(queue, id)).length > 0);
  await advanceClock(303_000);
  await forgetRedis();
  await recovery.sweep();
  expect(await jobsOf('deliver-webhook', first.id)).toHaveLength(1);
  expect(await jobsOf('deliver-webhook-retry', first.id)).toHaveLength(0);
  expect(await jobsOf('deliver-webhook', retried.id)).toHaveLength(0);
  expect(await jobsOf('deliver-webhook-retry', retried.id)).toHaveLength(1);
});

test('events that nobody numbered have the relay woken', async () => {
  await acceptEmail(own);
  await forgetRedis();
  await advanceClock(3_000);
  await recovery.sweep();
  await waitFor('the relay has a job', async () => (await jobsOf('relay-events', 'relay')).length > 0);
});

test('while Redis is away nothing is marked as being in Redis', async () => {
  const line = await startTcpProxy(config.REDIS_URL, 6379);
  const { REDIS_URL } = config;
  const email = await scheduledIn(60);
  await advanceClock(50 * minuteMs);
  changeSettings({ REDIS_URL: line.url });
  await closeQueues();
  await waitFor('Redis answers', () => producerConnection().ping());
  line.refuse();
  await recovery.sweep();
  expect((await email.read()).parked).toBe(true);
  changeSettings({ REDIS_URL });
  await closeQueues();
  await waitFor('Redis answers', () => producerConnection().ping());
  await recovery.sweep();
  expect((await email.read()).parked).toBe(false);
  expect(await jobsOf('send-email', email.id)).toHaveLength(1);
});

// Shows F17
test('the workers repair by themselves what a flush took, the sweep included, and send nothing twice', async () => {
  const recipients = Array.from({ length: 20 }, (_, index) => `flushed-${index}@example.com`);
  for (const recipient of recipients) await acceptEmail(own, { recipient });
  await forgetRedis();
  const workers = await runWorkers(['send-email', 'sweep']);
  await forgetRedis();
  await advanceClock(3_000);
  await waitFor('all are sent', () => recipients.every((recipient) => countTo(recipient) > 0));
  // Redis is flushed again while the workers run: the job of the sweep, which finds lost work, is lost too.
  await forgetRedis();
  const late = await acceptEmail(own, { recipient: 'late@example.com' });
  await forgetRedis();
  await advanceClock(3_000);
  await waitFor('the late one is sent', async () => (await late.read()).status === 'sent');
  for (const recipient of [...recipients, 'late@example.com'])
    expect([recipient, countTo(recipient)]).toEqual([recipient, 1]);
  expect(await attemptEmail(late.id)).toBe('dropped');
  await workers.stop();
});
