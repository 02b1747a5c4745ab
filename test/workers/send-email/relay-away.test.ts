// @slow: it starts, stops and breaks processes of the platform.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { createRelayCircuitBreaker } from '../../../shared/domain/email/delivery/relay-circuit-breaker.ts';
import { acceptMany, emailCounts } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});
beforeEach(async () => {
  await query('TRUNCATE TABLE emails');
  await forgetRedis();
});

const inFlight = 10;

// Shows F27
test('100 emails do not hammer a relay that says 421, keep their attempts, and all go out when it is back', async () => {
  const sink = await startSmtpSink({ mode: '421 greeting' });
  await acceptMany(own, 100);
  const worker = await startWorkerProcess(['send-email', 'sweep'], {
    SMTP_URL: sink.url,
    EMAIL_CONCURRENCY: String(inFlight),
    SMTP_CONNECTIONS: String(inFlight),
  });
  // The pauses are 1, 2, 4 seconds and so on. After the emails in progress, each pause is followed by one more try.
  await waitFor('it pauses for longer and longer', () => worker.output().includes('"pauseSeconds":4'));
  const [one, two, four] = worker
    .output()
    .split('\n')
    .filter((line) => line.includes('"pauseSeconds":'))
    .map((line) => Date.parse(JSON.parse(line).time));
  expect(two! - one!).toBeGreaterThanOrEqual(990);
  expect(four! - two!).toBeGreaterThanOrEqual(1_990);
  expect(sink.connectionCount()).toBeLessThanOrEqual(inFlight + 4);
  const [untried] = await query('SELECT COUNT(*) AS emails FROM emails WHERE retries = 0');
  expect(Number(untried!['emails'])).toBeGreaterThanOrEqual(100 - inFlight - 4);
  expect(worker.output()).toContain('the relay cannot be used');

  sink.setMode('accept');
  // The emails that were tried are due again in a minute.
  await advanceClock(62_000);
  await waitFor('all are sent', async () => (await emailCounts(own)).sent === 100);
  expect(sink.messages).toHaveLength(100);
  expect(worker.output()).toContain('the relay can be used again');
  await worker.stop();
});

// Shows F12
test('a worker stops in time while the relay is away', async () => {
  const sink = await startSmtpSink({ mode: 'drop in the banner' });
  await acceptMany(own, 40);
  // The grace period is so long that no test reaches its end.
  const settings = { SMTP_URL: sink.url, SHUTDOWN_SECONDS: '600' };
  const worker = await startWorkerProcess(['send-email'], settings);
  await waitFor('it pauses', () => worker.output().includes('"pauseSeconds":2'));
  expect(await worker.stop()).toMatchObject({ code: 0 });
  expect((await emailCounts(own)).inRedis).toBe(40);
});

test('while the relay is away for good, emails fail when their time is up as they would have', async () => {
  const sink = await startSmtpSink({ mode: 'drop in the banner' });
  await acceptMany(own, 60, (index) => ({ kind: index % 2 ? 'authentication' : 'transactional' }));
  const worker = await startWorkerProcess(['send-email', 'sweep'], { SMTP_URL: sink.url });
  await waitFor('it pauses', () => worker.output().includes('"pauseSeconds":1'));
  await advanceClock(31 * 60_000);
  await waitFor(
    'all codes have failed',
    async () => (await emailCounts(own, 'authentication')).failed === 30,
  );
  expect(await emailCounts(own)).toMatchObject({ failed: 0 });
  const [reason] = await query(
    "SELECT DISTINCT reason_category, reason_code FROM emails WHERE status = 'failed'",
  );
  expect(reason).toEqual({ reason_category: 'soft_bounce', reason_code: 'relay_greeting' });
  await worker.stop();
});

const faultAt = (at: 'session' | 'message') =>
  ({ kind: 'transport_fault', at, reason: 'timeout', detail: 'no answer' }) as const;
const fault = faultAt('session');
const silent = faultAt('message');
const accepted = { kind: 'accepted', reply: '250 Ok' } as const;
const refused = (code: number) =>
  ({ kind: 'refused', stage: 'rcpt', code, enhanced: null, reply: `${code} No` }) as const;
const short = { firstPauseMs: 100, longestPauseMs: 400, longestWaitMs: 2_000 };

test('one connection that breaks pauses nothing, and three in a row do', () => {
  const pause = createRelayCircuitBreaker(short);
  for (const result of [fault, fault, accepted, fault, fault, refused(550), fault, fault])
    pause.note('one', result);
  expect(pause.isPaused()).toBe(false);
  pause.note('one', fault);
  expect(pause.isPaused()).toBe(true);
  expect(pause.isPaused('other')).toBe(true);
});

// Shows F27
test('a relay that falls silent or closes at the emails of one workspace pauses these alone', async () => {
  const pause = createRelayCircuitBreaker(short);
  for (const result of [silent, refused(421), accepted, silent, refused(421)]) pause.note('one', result);
  expect(pause.isPaused('one')).toBe(false);
  pause.note('one', silent);
  expect([pause.isPaused('one'), pause.isPaused('other'), pause.isPaused()]).toEqual([true, false, false]);
  expect(await pause.pass('one')).toHaveProperty('waitMs');
  expect(await pause.pass('other')).toHaveProperty('leave');

  const probe = await waitFor('one goes ahead', async () => {
    const pass = await pause.pass('one');
    return 'leave' in pass && pass;
  });
  expect(await pause.pass('one')).toHaveProperty('waitMs');
  pause.note('one', accepted);
  probe.leave();
  expect(await pause.pass('one')).toHaveProperty('leave');
  expect(pause.isPaused('one')).toBe(false);
});

// Shows F27
test('a relay that takes the emails of one workspace whole and never answers pauses these alone', async () => {
  const pause = createRelayCircuitBreaker(short);
  const unanswered = { kind: 'uncertain', detail: 'no answer' } as const;
  for (const result of [unanswered, unanswered, accepted, unanswered, unanswered]) pause.note('one', result);
  expect(pause.isPaused('one')).toBe(false);
  pause.note('one', unanswered);
  expect([pause.isPaused('one'), pause.isPaused('other'), pause.isPaused()]).toEqual([true, false, false]);
  expect(await pause.pass('one')).toHaveProperty('waitMs');
  expect(await pause.pass('other')).toHaveProperty('leave');
});

test('an answer that was lost neither pauses the relay nor ends its pause', () => {
  const pause = createRelayCircuitBreaker(short);
  const unanswered = { kind: 'uncertain', detail: 'no answer' } as const;
  for (const result of [fault, fault, unanswered]) pause.note('one', result);
  expect(pause.isPaused()).toBe(false);
  pause.note('one', fault);
  expect(pause.isPaused()).toBe(true);
  pause.note('two', unanswered);
  expect(pause.isPaused()).toBe(true);
});

test('a wait for a connection of our own says nothing about the relay', () => {
  const pause = createRelayCircuitBreaker(short);
  for (let count = 0; count < 3; count += 1) pause.note('one', { kind: 'busy', detail: 'none came free' });
  expect(pause.isPaused('one')).toBe(false);
});

test('during a pause one goes ahead, the others wait for what it finds', async () => {
  const pause = createRelayCircuitBreaker(short);
  for (let count = 0; count < 3; count += 1) pause.note('one', fault);
  const passed: number[] = [];
  const waiters = Array.from({ length: 5 }, async (_, index) => {
    const pass = await pause.pass();
    passed.push(index);
    return pass;
  });
  await waitFor('one goes ahead', () => passed.length === 1);
  pause.note('one', fault);
  expect(passed).toHaveLength(1);
  const first = (await Promise.race(waiters)) as { leave: () => void };
  first.leave();
  await waitFor('another goes ahead', () => passed.length === 2);
  pause.note('one', accepted);
  await Promise.all(waiters);
  expect(passed).toHaveLength(5);
});

test('one that went ahead and never came to the relay lets the next one go', async () => {
  const pause = createRelayCircuitBreaker(short);
  for (let count = 0; count < 3; count += 1) pause.note('one', fault);
  for (let count = 0; count < 3; count += 1) {
    const pass = await pause.pass();
    expect(pass).toHaveProperty('leave');
    (pass as { leave: () => void }).leave();
  }
  expect(pause.isPaused()).toBe(true);
});

test('who has waited with a claim for long is told how long to wait elsewhere', async () => {
  const pause = createRelayCircuitBreaker({
    firstPauseMs: 60_000,
    longestPauseMs: 60_000,
    longestWaitMs: 100,
  });
  for (let count = 0; count < 3; count += 1) pause.note('one', fault);
  const pass = (await pause.pass()) as { waitMs: number };
  expect(pass.waitMs).toBeGreaterThan(50_000);
  expect(pass.waitMs).toBeLessThanOrEqual(60_000);
});
