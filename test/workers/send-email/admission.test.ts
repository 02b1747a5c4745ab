// @slow: thousands of emails of many workspaces go out.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { closeQueues, producerConnection, queueOf } from '../../../shared/queue/queue.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { acceptMany, emailCounts, jobsInRedis } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
});

// Emails that one test leaves waiting would count in the next.
beforeEach(async () => {
  changeSettings({ EMAIL_JOBS_PER_WORKSPACE: 40, EMAIL_CONCURRENCY: 40 });
  sink.setMode('accept');
  await query('TRUNCATE TABLE emails');
  own = await workspace();
  await forgetRedis();
});

const numbered = (index: number) => ({ recipient: `person-${index}@example.com` });
const numberOf = (address: string) => Number(/\d+/.exec(address)?.[0]);
const allWoken = (jobs: number) =>
  waitFor('the jobs are in Redis', async () => (await jobsInRedis()) === jobs);

test('Redis holds no more of a workspace than its share; the rest waits in rows, and goes out in order', async () => {
  await acceptMany(own, 300, numbered);
  await waitFor('the room to be full', async () => (await emailCounts(own)).inRedis === 40);
  expect(await emailCounts(own)).toMatchObject({ parked: 260 });
  await allWoken(40);
  await recovery.sweep();
  await recovery.sweep();
  expect(await jobsInRedis()).toBe(40);

  // No sweep runs here: only emails that end let in the next ones.
  const before = sink.messages.length;
  const workers = await runWorkers(['send-email']);
  const seen: number[] = [];
  await waitFor('all are sent', async () => {
    const { inRedis, sent } = await emailCounts(own);
    seen.push(inRedis);
    return sent === 300;
  });
  await workers.stop();
  expect(Math.max(...seen)).toBeLessThanOrEqual(40);
  const arrived = sink.messages.slice(before).map(({ envelope }) => numberOf(envelope.to[0]!));
  expect(new Set(arrived).size).toBe(300);
  expect(arrived).toHaveLength(300);
  // Emails that are let in together come in any order.
  arrived.forEach((number, place) => expect(Math.abs(number - place)).toBeLessThanOrEqual(100));
});

test('one workspace’s backlog leaves the room of others, and of its own other lanes, alone', async () => {
  const other = await workspace();
  await acceptMany(own, 100, () => ({ kind: 'marketing' }));
  await acceptMany(other, 30, () => ({ kind: 'marketing' }));
  await acceptMany(own, 30, () => ({ kind: 'authentication' }));
  // Some may have to wait a moment, until this process has counted again.
  const isFull = async () => (await emailCounts(own, 'marketing')).inRedis === 40;
  await waitFor('the backlog to have its room', isFull);
  const isIn = async (from: typeof own, kind: 'marketing' | 'authentication') => {
    const { inRedis, parked } = await emailCounts(from, kind);
    return inRedis === 30 && parked === 0;
  };
  await waitFor('all of the other are in', () => isIn(other, 'marketing'));
  await waitFor('all of the other lane are in', () => isIn(own, 'authentication'));
  expect((await emailCounts(own, 'marketing')).inRedis).toBe(40);
});

test('an email of a workspace without a backlog goes before the backlog of another', async () => {
  changeSettings({ EMAIL_JOBS_PER_WORKSPACE: 500, EMAIL_CONCURRENCY: 4 });
  const other = await workspace();
  await acceptMany(own, 200, numbered);
  await acceptEmail(other, { recipient: 'other@example.com' });
  await allWoken(201);
  const before = sink.messages.length;
  const workers = await runWorkers(['send-email']);
  const isOther = ({ envelope }: (typeof sink.messages)[number]) => envelope.to[0] === 'other@example.com';
  await sink.waitFor(() => sink.messages.some(isOther));
  // The first emails of a backlog go out at the same time.
  expect(sink.messages.findIndex(isOther) - before).toBeLessThan(60);
  await sink.waitFor(before + 201);
  await workers.stop();
});

test('one-time codes of a workspace pass the marketing of another that is going out', async () => {
  changeSettings({ EMAIL_JOBS_PER_WORKSPACE: 500, EMAIL_CONCURRENCY: 40 });
  const other = await workspace();
  const bulk = 400;
  await acceptMany(own, bulk, () => ({ kind: 'marketing', recipient: 'bulk@example.com' }));
  const before = sink.messages.length;
  const isBulk = ({ envelope }: (typeof sink.messages)[number]) => envelope.to[0] === 'bulk@example.com';
  const sent = () => sink.messages.slice(before).filter(isBulk).length;
  const workers = await runWorkers(['send-email', 'sweep']);
  await sink.waitFor(() => sent() > 0);
  const passedBy: number[] = [];
  for (let code = 0; code < 10 && sent() < bulk; code += 1) {
    const recipient = `code-${code}@example.com`;
    const ahead = sent();
    await acceptEmail(other, { kind: 'authentication', recipient });
    await sink.waitFor(() => sink.messages.some(({ envelope }) => envelope.to[0] === recipient));
    passedBy.push(sent() - ahead);
  }
  await sink.waitFor(() => sent() === bulk);
  await workers.stop();
  expect(passedBy.length).toBeGreaterThan(2);
  // The bound covers the emails that one lane is sending, and those that go out while the code is claimed.
  expect(Math.max(...passedBy)).toBeLessThan(100);
});

test('what comes while others wait goes behind them', async () => {
  await acceptMany(own, 60, numbered);
  await waitFor('this process knows of the backlog', async () => {
    const late = await acceptEmail(own, { recipient: 'late@example.com' });
    return (await late.read()).parked;
  });
  await query('DELETE FROM emails WHERE workspace_id = ? AND recipient = ?', [
    idToBytes(own.workspaceId),
    'late@example.com',
  ]);
  await query("UPDATE emails SET status = 'sent', due_at = NULL WHERE parked = 0");
  const late = await acceptEmail(own, { recipient: 'last@example.com' });
  expect((await late.read()).parked).toBe(true);
  await waitFor('the backlog has been let in', async () => (await emailCounts(own)).parked === 0);
});

test('when a burst is over the last of it does not wait for the sweep', async () => {
  await acceptMany(own, 50, numbered);
  await allWoken(40);
  await query("UPDATE emails SET status = 'sent', due_at = NULL WHERE parked = 0");
  const [late] = await acceptMany(own, 1);
  await waitFor('all are in Redis', async () => (await emailCounts(own)).parked === 0);
  expect(await queueOf('send-email').getJob(`${late!.id}-1`)).toBeTruthy();
});

test('retries leave room: half of it at most waits in Redis for a later attempt', async () => {
  sink.setMode('450 at RCPT');
  for (const email of await acceptMany(own, 40)) await attempt(email.id);
  await acceptMany(own, 1);
  const waiting = async () => (await emailCounts(own)).inRedis;
  expect(await waiting()).toBeLessThanOrEqual(21);
  await advanceClock(61_000);
  await forgetRedis();
  await recovery.sweep();
  // All retries are due now, so Redis may be filled to its whole room.
  expect(await waiting()).toBe(40);
  const [first] = await query<{ due_at: Date }[]>('SELECT due_at FROM emails WHERE parked = 1');
  expect(first!['due_at'].getTime()).toBeLessThan(now().getTime());
});

test('what Redis does not take stays parked, and is let in when it is back', async () => {
  await acceptMany(own, 60, numbered);
  await allWoken(40);
  await query("UPDATE emails SET status = 'sent', due_at = NULL WHERE parked = 0");
  const { REDIS_URL } = process.env;
  // The URL changes before the queues close, so that a queue opened at that moment finds no Redis either.
  changeSettings({ REDIS_URL: 'redis://127.0.0.1:1' });
  await closeQueues();
  await recovery.sweep();
  expect(await emailCounts(own)).toMatchObject({ inRedis: 0, parked: 20 });
  changeSettings({ REDIS_URL: REDIS_URL! });
  await closeQueues();
  await waitFor('Redis answers', () => producerConnection().ping());
  await recovery.sweep();
  expect(await emailCounts(own)).toMatchObject({ inRedis: 20, parked: 0 });
});

test('of two who let in at once neither lets in more than there is room for', async () => {
  await acceptMany(own, 120, numbered);
  await allWoken(40);
  // In this order: once there is room, a request's own refill may already make jobs.
  await forgetRedis();
  await query("UPDATE emails SET status = 'sent', due_at = NULL WHERE parked = 0");
  await Promise.all([recovery.sweep(), recovery.sweep(), recovery.sweep()]);
  expect((await emailCounts(own)).inRedis).toBe(40);
  expect(await jobsInRedis()).toBe(40);
});
