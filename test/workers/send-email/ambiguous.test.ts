import { beforeAll, expect, test } from 'vitest';
import { now, nowForAll } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import * as system from '../../../shared/db/email/emails.system.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock, advanceClockTo } from '../../support/time/advance-clock.ts';
import { skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  own = await workspace();
});

type Accepted = Awaited<ReturnType<typeof acceptEmail>>;

let recipients = 0;
async function accept(changes: Record<string, unknown> = {}): Promise<[Accepted, () => Buffer[]]> {
  recipients += 1;
  const recipient = `uncertain-${recipients}@example.com`;
  const received = () =>
    sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).map(({ raw }) => raw);
  return [await acceptEmail(own, { recipient, ...changes }), received];
}

const comesDue = async (email: Accepted) => advanceClockTo((await email.read()).dueAt!);

const uncertain = {
  category: 'failed',
  code: 'delivery_uncertain',
  description: expect.stringMatching(/\S/),
  retryable: true,
};

test.each(['drop after the dot', 'hang after the dot'] as const)(
  'after %s the email is sent once more, with the same Message-ID and the same bytes',
  async (mode) => {
    const [email, received] = await accept({
      subject: 'Grüße {{ "now" | date: "%s" }}',
      content: { html: '<p>Ünï</p>', text: 'Ünï' },
      kind: 'marketing',
    });
    sink.setMode(mode);
    const skip = skippableTimers();
    const attempted = attempt(email.id);
    await waitFor('it has come to that', () => received().length === 1);
    if (mode === 'hang after the dot') skip(config.SMTP_TIMEOUT_SECONDS * 1000);
    expect(await attempted).toMatchObject({ retryAt: expect.any(Date) });
    expect(await email.read()).toMatchObject({ status: 'queued', uncertainCount: 1, handoverAt: null });
    sink.setMode('accept');
    await comesDue(email);
    expect(await attempt(email.id)).toBe('done');
    expect((await email.read()).status).toBe('sent');
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.delayed', 'email.sent']);
    const [first, second, ...more] = received();
    expect(more).toEqual([]);
    expect(second!.equals(first!)).toBe(true);
    expect(first!.toString()).toContain(`\r\nMessage-ID: <${email.id}@${own.domain}>\r\n`);
  },
);

// Shows F29
test('when the answer is lost again the email fails as uncertain, and is not sent a third time', async () => {
  const [email, received] = await accept();
  sink.setMode('drop after the dot');
  await attempt(email.id);
  await comesDue(email);
  expect(await attempt(email.id)).toBe('done');
  expect(await email.read()).toMatchObject({ status: 'failed', reason: uncertain, dueAt: null });
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.delayed', 'email.failed']);
  await advanceClock(48 * 3_600_000);
  expect(await attempt(email.id)).toBe('dropped');
  expect(received()).toHaveLength(2);
});

test('a second sending that is refused for now is still the only one that may be lost', async () => {
  const [email, received] = await accept();
  sink.setMode('drop after the dot');
  await attempt(email.id);
  sink.setMode('450 at RCPT');
  await comesDue(email);
  await attempt(email.id);
  sink.setMode('drop after the dot');
  await comesDue(email);
  expect(await attempt(email.id)).toBe('done');
  expect((await email.read()).reason).toEqual(uncertain);
  expect(received()).toHaveLength(2);
});

/** Makes the writes of a worker that is killed while it speaks to the relay. */
async function dieDuringHandover(email: Accepted): Promise<void> {
  const at = nowForAll();
  const until = new Date(at.getTime() + config.LEASE_SECONDS * 1000);
  const claimed = await system.claimEmail({ id: email.id, at, until });
  expect(await system.updateHandoverStarted({ id: email.id, token: claimed!.token, at: now() })).toBe(true);
}

// Shows F9
test('an email whose worker died while it spoke to the relay is sent once more when the lease has ended', async () => {
  sink.setMode('accept');
  const [email, received] = await accept();
  await dieDuringHandover(email);
  expect(await attempt(email.id)).toBe('dropped');
  await comesDue(email);
  expect(await attempt(email.id)).toBe('done');
  expect(await email.read()).toMatchObject({ status: 'sent', uncertainCount: 1 });
  expect(received()).toHaveLength(1);
});

test('an email whose workers died twice while they spoke to the relay fails as uncertain', async () => {
  sink.setMode('accept');
  const [email, received] = await accept();
  await dieDuringHandover(email);
  await comesDue(email);
  await dieDuringHandover(email);
  await comesDue(email);
  expect(await attempt(email.id)).toBe('done');
  expect(await email.read()).toMatchObject({ status: 'failed', reason: uncertain });
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.failed']);
  expect(received()).toEqual([]);
});

// Shows F8
test('a worker that died before it spoke to the relay leaves nothing uncertain', async () => {
  sink.setMode('accept');
  const [email, received] = await accept();
  for (let count = 0; count < 3; count += 1) {
    const at = nowForAll();
    await system.claimEmail({ id: email.id, at, until: new Date(at.getTime() + 1000) });
    await comesDue(email);
  }
  expect(await attempt(email.id)).toBe('done');
  expect(await email.read()).toMatchObject({ status: 'sent', uncertainCount: 0 });
  expect(received()).toHaveLength(1);
});

// Shows F11
test('an email that takes every worker down with it is given up', async () => {
  const [email] = await accept();
  let claims = 0;
  for (; claims < 30 && (await email.read()).status === 'queued'; claims += 1) {
    const at = nowForAll();
    await system.claimEmail({ id: email.id, at, until: new Date(at.getTime() + 1000) });
    await comesDue(email);
    if (claims >= 10) await attempt(email.id);
  }
  expect(await email.read()).toMatchObject({
    status: 'failed',
    reason: { category: 'failed', code: 'internal_error', retryable: true },
  });
});
