import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import { closeSmtp } from '../../../shared/transports/smtp.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpMode, type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock, advanceClockTo, clockToleranceMs } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  own = await workspace();
});

const minuteMs = 60_000;
type Accepted = Awaited<ReturnType<typeof acceptEmail>>;

/**
 * Makes attempt after attempt, each at the time that the previous one has set, until no more follows.
 * Returns the waits in whole minutes, and checks that each wait is exact within the tolerance of the clock.
 */
async function attemptsUntilTheEnd(email: Accepted): Promise<number[]> {
  const waits: number[] = [];
  for (;;) {
    const before = now().getTime();
    const outcome = await attempt(email.id);
    const after = now().getTime();
    if (outcome === 'done') return waits;
    if (outcome === 'dropped') throw new Error('The email was not due at its own time');
    const due = outcome.retryAt.getTime();
    const minutes = Math.round((due - after) / minuteMs);
    expect(due).toBeGreaterThanOrEqual(before + minutes * minuteMs - clockToleranceMs);
    expect(due).toBeLessThanOrEqual(after + minutes * minuteMs + clockToleranceMs);
    expect((await email.read()).dueAt).toEqual(outcome.retryAt);
    waits.push(minutes);
    expect(await attempt(email.id)).toBe('dropped');
    await advanceClockTo(outcome.retryAt);
  }
}

// Shows F27
test('what is refused for now is tried again after 1, 5, 15, 30, 60 minutes, then hourly for 48 hours', async () => {
  sink.setMode('450 at RCPT');
  const email = await acceptEmail(own, { recipient: 'never@example.com' });
  const waits = await attemptsUntilTheEnd(email);
  expect(waits.slice(0, 5)).toEqual([1, 5, 15, 30, 60]);
  expect(new Set(waits.slice(4))).toEqual(new Set([60]));
  const total = waits.reduce((sum, wait) => sum + wait, 0);
  expect(total).toBeLessThanOrEqual(48 * 60);
  expect(total + 60).toBeGreaterThan(48 * 60);
  const record = await email.read();
  expect(record).toMatchObject({ status: 'failed', dueAt: null, retries: waits.length });
  expect(record.reason).toEqual({
    category: 'soft_bounce',
    code: 'temporarily_refused',
    description: '450 4.2.1 Try again later',
    retryable: true,
  });
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.delayed', 'email.bounced']);
});

test('a one-time code is given up after half an hour', async () => {
  sink.setMode('450 at RCPT');
  const email = await acceptEmail(own, { kind: 'authentication' });
  const { createdAt } = await email.read();
  expect(await attemptsUntilTheEnd(email)).toEqual([1, 5, 15]);
  const record = await email.read();
  expect(record.reason).toMatchObject({ category: 'soft_bounce', retryable: true });
  expect(record.updatedAt.getTime() - createdAt.getTime()).toBeLessThanOrEqual(30 * minuteMs);
});

test('the time for a scheduled email runs from when it was due', async () => {
  sink.setMode('450 at RCPT');
  const scheduledAt = new Date(now().getTime() + 20 * 86_400_000);
  const email = await acceptEmail(own, { kind: 'authentication', scheduledAt: scheduledAt.toISOString() });
  expect(await attempt(email.id)).toBe('dropped');
  await advanceClockTo(scheduledAt);
  expect(await attemptsUntilTheEnd(email)).toEqual([1, 5, 15]);
});

test('when the server takes it at last, the email is sent', async () => {
  sink.setMode('450 at RCPT');
  const recipient = 'at-last@example.com';
  const email = await acceptEmail(own, { recipient });
  for (let count = 0; count < 3; count += 1) {
    await attempt(email.id);
    await advanceClockTo((await email.read()).dueAt!);
  }
  sink.setMode('accept');
  expect(await attempt(email.id)).toBe('done');
  expect(await email.read()).toMatchObject({ status: 'sent', reason: null, retries: 3 });
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.delayed', 'email.sent']);
});

test('what is due in more than a quarter of an hour leaves Redis and waits in its row', async () => {
  sink.setMode('450 at RCPT');
  const email = await acceptEmail(own);
  const parked: boolean[] = [];
  for (let count = 0; count < 4; count += 1) {
    await attempt(email.id);
    parked.push((await email.read()).parked);
    await advanceClockTo((await email.read()).dueAt!);
  }
  // Waits of 1, 5 and 15 minutes stay in Redis; the wait of 30 minutes is parked in the row.
  expect(parked).toEqual([false, false, false, true]);
});

test.each<[SmtpMode, code: string]>([
  ['421 greeting', 'relay_greeting'],
  ['drop in the banner', 'relay_greeting'],
  ['drop at MAIL', 'relay_connection'],
])('%s is the relay’s fault: the email waits, and is tried again', async (mode, code) => {
  const faulty = await startSmtpSink({ mode });
  await throughRelay(faulty.url, async () => {
    const email = await acceptEmail(own, { kind: 'authentication' });
    expect(await attemptsUntilTheEnd(email)).toEqual([1, 5, 15]);
    expect((await email.read()).reason).toMatchObject({ category: 'soft_bounce', code, retryable: true });
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.delayed', 'email.bounced']);
  });
});

test('a refused login is the relay’s fault, never the message’s', async () => {
  const faulty = await startSmtpSink({ mode: '535 at login', login: { user: 'u', password: 'p' } });
  await throughRelay(faulty.url, async () => {
    const email = await acceptEmail(own);
    expect(await attempt(email.id)).toMatchObject({ retryAt: expect.any(Date) });
    // The customer sees why the email waits; the relay's own words are for the operator.
    const reason = {
      category: 'soft_bounce',
      code: 'relay_login',
      description: 'The relay could not be used',
    };
    expect(await email.read()).toMatchObject({ status: 'queued', reason, retries: 1 });
  });
});

test('while the relay is down emails wait, and go out when it is back', async () => {
  const port = await freePort();
  await throughRelay(`smtp://127.0.0.1:${port}`, async () => {
    const email = await acceptEmail(own, { recipient: 'patient@example.com' });
    expect(await attempt(email.id)).toMatchObject({ retryAt: expect.any(Date) });
    expect(await email.read()).toMatchObject({ status: 'queued', retries: 1, uncertainCount: 0 });
    await advanceClock(minuteMs + 1000);
    changeSettings({ SMTP_URL: sink.url });
    sink.setMode('accept');
    await closeSmtp();
    expect(await attempt(email.id)).toBe('done');
    expect((await email.read()).status).toBe('sent');
  });
});

/** Runs `work` with another relay in place of the usual one. */
async function throughRelay(url: string, work: () => Promise<void>): Promise<void> {
  const { SMTP_URL } = config;
  changeSettings({ SMTP_URL: url });
  await closeSmtp();
  try {
    await work();
  } finally {
    changeSettings({ SMTP_URL });
    await closeSmtp();
  }
}
