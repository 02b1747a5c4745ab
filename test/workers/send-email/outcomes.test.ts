import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { listSuppressions } from '../../../shared/db/suppressions.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { acceptEmail, eventsOf } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpMode, type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url, RETURN_PATH_DOMAIN: 'bounces.example.org' });
  own = await workspace();
});

/** Returns a recipient for whom the server answers in this mode, while it accepts all others. */
function refusedRecipient(mode: SmtpMode): string {
  const address = `${randomUUID()}@example.com`;
  sink.setMode((recipient) => (recipient === address ? mode : 'accept'));
  return address;
}
const hasBody = async (id: string) =>
  (await query('SELECT 1 FROM email_bodies WHERE email_id = ?', [idToBytes(id)])).length === 1;
const messagesTo = (recipient: string) =>
  sink.messages.filter(({ envelope }) => envelope.to.includes(recipient));

test('what the relay takes is sent, with its time, its event, and a request for a DSN', async () => {
  const recipient = 'taken@example.com';
  const email = await acceptEmail(own, { recipient });
  expect(await attempt(email.id)).toBe('done');
  const record = await email.read();
  expect(record).toMatchObject({ status: 'sent', reason: null, deliveredAt: null, dueAt: null, eventSeq: 2 });
  expect(record.sentAt).toEqual(record.updatedAt);
  expect(await hasBody(email.id)).toBe(false);
  const [queued, sent] = await eventsOf(own, email.id);
  expect([queued!.type, sent!.type]).toEqual(['email.queued', 'email.sent']);
  expect(sent!.occurredAt).toEqual(record.sentAt);
  expect(sent!.data).toStrictEqual({
    ...queued!.data,
    status: 'sent',
    sentAt: record.sentAt!.toISOString(),
    updatedAt: record.sentAt!.toISOString(),
  });
  const [message] = messagesTo(recipient);
  expect(message!.envelope).toEqual({
    from: expect.stringMatching(/@bounces\.example\.org$/),
    to: [recipient],
  });
  expect(message!.parameters).toMatchObject({ RET: 'HDRS', NOTIFY: 'SUCCESS,FAILURE,DELAY' });
});

test('where acceptance is delivery, the email is sent and delivered in one, and no DSN is asked for', async () => {
  changeSettings({ EMAIL_DELIVERED_ON: 'accept' });
  const recipient = 'delivered@example.com';
  const email = await acceptEmail(own, { recipient });
  expect(await attempt(email.id)).toBe('done');
  changeSettings({ EMAIL_DELIVERED_ON: 'dsn' });
  const record = await email.read();
  expect(record).toMatchObject({ status: 'delivered', reason: null, dueAt: null, eventSeq: 3 });
  expect(record.deliveredAt).toEqual(record.sentAt);
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.sent', 'email.delivered']);
  const [, sent, delivered] = await eventsOf(own, email.id);
  expect(sent!.data).toMatchObject({ status: 'sent', deliveredAt: null });
  expect(delivered!.data).toMatchObject({ status: 'delivered', deliveredAt: record.sentAt!.toISOString() });
  expect(messagesTo(recipient)[0]!.parameters).not.toHaveProperty('NOTIFY');
});

// Shows F28
test('an unknown mailbox is a hard bounce', async () => {
  const email = await acceptEmail(own, { recipient: refusedRecipient('550 at RCPT') });
  expect(await attempt(email.id)).toBe('done');
  const reason = {
    category: 'hard_bounce',
    code: 'mailbox_unknown',
    description: '550 5.1.1 No such mailbox',
    retryable: false,
  };
  expect(await email.read()).toMatchObject({ status: 'failed', reason, sentAt: null, dueAt: null });
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.bounced']);
  expect((await eventsOf(own, email.id))[1]!.data).toMatchObject({ status: 'failed', reason });
  expect(await hasBody(email.id)).toBe(false);
});

/** Returns the entries of the suppression list, each with the number of its events. */
async function suppressionsOf(emailKey: string) {
  const { records } = await listSuppressions(own.workspaceId, { emailKey }, { limit: 10, before: null });
  return Promise.all(
    records.map(async ({ id, scope, source, reason }) => {
      const told = await query("SELECT id FROM events WHERE record_id = ? AND type = 'suppression.created'", [
        idToBytes(id),
      ]);
      return { scope, source, reason, told: told.length };
    }),
  );
}

// Shows F28
test('a mailbox that does not exist is suppressed with the bounce, and the next email to it goes nowhere', async () => {
  const recipient = refusedRecipient('550 at RCPT');
  const [one, two] = [await acceptEmail(own, { recipient }), await acceptEmail(own, { recipient })];
  await Promise.all([attempt(one.id), attempt(two.id)]);
  expect(await suppressionsOf(recipient)).toEqual([
    { scope: 'all', source: 'bounce', reason: '550 5.1.1 No such mailbox', told: 1 },
  ]);
  const next = await acceptEmail(own, { recipient });
  await attempt(next.id);
  expect((await next.read()).reason).toMatchObject({ category: 'suppressed' });
});

test.each(['550 5.7.1 at RCPT', '550 5.1.1 after the dot', '554 after the dot', '450 at RCPT'] as const)(
  '%s suppresses nobody',
  async (mode) => {
    const recipient = refusedRecipient(mode);
    const email = await acceptEmail(own, { recipient });
    await attempt(email.id);
    expect(await suppressionsOf(recipient)).toEqual([]);
  },
);

test.each([
  ['550 5.7.1 at RCPT', 'refused_by_policy'],
  ['550 5.1.1 after the dot', 'message_refused'],
  ['554 after the dot', 'content_refused'],
] as const)('%s is a rejection, not a bounce', async (mode, code) => {
  const email = await acceptEmail(own, { recipient: refusedRecipient(mode) });
  expect(await attempt(email.id)).toBe('done');
  expect((await email.read()).reason).toMatchObject({ category: 'rejected', code, retryable: false });
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.failed']);
  expect(await hasBody(email.id)).toBe(false);
});

test.each([
  ['450 at RCPT', 'temporarily_refused'],
  ['451 after the dot', 'temporarily_refused'],
  ['421 at RCPT', 'server_closing'],
  ['421 after the dot', 'server_closing'],
] as const)(
  '%s leaves the email queued, with its body, and tells of the delay and why',
  async (mode, code) => {
    const email = await acceptEmail(own, { recipient: refusedRecipient(mode) });
    expect(await attempt(email.id)).toEqual({ retryAt: (await email.read()).dueAt });
    const reason = {
      category: 'soft_bounce',
      code,
      description: expect.stringMatching(new RegExp(`^${mode.slice(0, 3)} `)),
      retryable: true,
    };
    expect(await email.read()).toMatchObject({ status: 'queued', reason, retries: 1, sentAt: null });
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.delayed']);
    const [, event] = await eventsOf(own, email.id);
    expect(event!.data).toMatchObject({ id: email.id, status: 'queued', reason });
    expect(await hasBody(email.id)).toBe(true);
  },
);

test('a domain that is no longer verified when the email is due sends nothing', async () => {
  const recipient = 'unsigned@example.com';
  const email = await acceptEmail(own, { recipient }, { sender: 'hello@unverified.example' });
  expect(await attempt(email.id)).toBe('done');
  expect((await email.read()).reason).toMatchObject({ category: 'rejected', code: 'domain_not_verified' });
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.failed']);
  expect(messagesTo(recipient)).toEqual([]);
});

test('a recipient whose domain is in another alphabet is sent to its ASCII form', async () => {
  const email = await acceptEmail(own, { recipient: 'ada@Bücher.example' });
  expect(await attempt(email.id)).toBe('done');
  // The test server shows the envelope decoded; a header stays as it was sent.
  const [message] = messagesTo('ada@bücher.example');
  expect(message!.raw.toString()).toContain('\r\nTo: ada@xn--bcher-kva.example\r\n');
  expect((await email.read()).recipient).toBe('ada@Bücher.example');
});

test('an email that does not exist, and one that is over, is nothing to do', async () => {
  const recipient = 'once@example.com';
  const email = await acceptEmail(own, { recipient });
  expect(await attempt(email.id)).toBe('done');
  expect(await attempt(email.id)).toBe('dropped');
  expect(await attempt(email.id.replace(/.{4}$/, '0000'))).toBe('dropped');
  expect(messagesTo(recipient)).toHaveLength(1);
});

test('the job does all of it by itself: the accepted email goes out, and a refused one later', async () => {
  const workers = await runWorkers(['send-email', 'sweep']);
  const [soon, later] = ['soon@example.com', refusedRecipient('450 at RCPT')];
  const taken = await acceptEmail(own, { recipient: soon });
  const refused = await acceptEmail(own, { recipient: later });
  await waitFor('the first is sent', async () => (await taken.read()).status === 'sent');
  await waitFor('the other waits', async () => (await refused.read()).retries === 1);
  sink.setMode('accept');
  // Two seconds more than the wait: BullMQ delays the job by its own clock, so the sweep then finds the email overdue.
  await advanceClock(63_000);
  await waitFor('the other is sent', async () => (await refused.read()).status === 'sent');
  expect(messagesTo(soon)).toHaveLength(1);
  expect(messagesTo(later)).toHaveLength(1);
  await workers.stop();
});
