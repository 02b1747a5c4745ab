import { beforeAll, expect, test } from 'vitest';
import { now, nowForAll } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import * as system from '../../../shared/db/email/emails.system.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import { forget } from '../../../shared/domain/email/domains/signing.ts';
import { advance, eventOf } from '../../../shared/domain/email/record.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { acceptEmail, eventsOf } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { lockTable } from '../../support/database/lock-table.ts';
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
  own = await workspace();
});

let recipients = 0;
async function accept() {
  recipients += 1;
  const recipient = `claimed-${recipients}@example.com`;
  const count = () => sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).length;
  return { ...(await acceptEmail(own, { recipient })), count };
}

const leaseMs = 60_000;
async function claim(emailId: string) {
  const at = nowForAll();
  return system.claimEmail({ id: emailId, at, until: new Date(at.getTime() + leaseMs) });
}
const rowOf = async (id: string) => (await query('SELECT * FROM emails WHERE id = ?', [idToBytes(id)]))[0];

test('an email that another worker holds is not sent twice', async () => {
  const email = await accept();
  const held = await claim(email.id);
  expect(held!.record.id).toBe(email.id);
  expect(await attempt(email.id)).toBe('dropped');
  expect(await claim(email.id)).toBeNull();
  expect(email.count()).toBe(0);
});

test('a claim counts, and its lease is the time at which the email is due again', async () => {
  const email = await accept();
  const before = now().getTime();
  const { record, body } = (await claim(email.id))!;
  expect(record).toMatchObject({ claims: 1, parked: false });
  expect(record.dueAt!.getTime()).toBeGreaterThanOrEqual(before + leaseMs - 1000);
  expect(body).toEqual({ html: null, text: 'A text', attachmentCount: 0 });
});

// Shows F36
test('of many attempts at once one sends', async () => {
  const email = await accept();
  const outcomes = await Promise.all(Array.from({ length: 25 }, () => attempt(email.id)));
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'dropped')).toHaveLength(24);
  expect(email.count()).toBe(1);
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.sent']);
});

// Shows F13
test('when the lease has ended another worker takes over', async () => {
  const email = await accept();
  await claim(email.id);
  await advanceClock(leaseMs + 1000);
  expect(await attempt(email.id)).toBe('done');
  expect(email.count()).toBe(1);
});

// Shows F13
test('a worker that comes late with its outcome changes nothing', async () => {
  const email = await accept();
  const late = (await claim(email.id))!;
  await advanceClock(leaseMs + 1000);
  expect(await attempt(email.id)).toBe('done');
  const [before, events] = [await rowOf(email.id), await eventsOf(own, email.id)];
  const reason = { category: 'failed', code: 'late', description: null, retryable: false } as const;
  const failed = advance(late.record, 'failed', { at: now(), reason });
  const outcome = { email: failed, token: late.token, events: [eventOf(failed)] };
  expect(await system.finishEmail(outcome)).toBe(false);
  expect(await system.updateHandoverStarted({ id: email.id, token: late.token, at: now() })).toBe(false);
  expect(await rowOf(email.id)).toEqual(before);
  expect(await eventsOf(own, email.id)).toEqual(events);
});

// Shows F13
test('a worker that lost its lease before it speaks to the relay does not speak', async () => {
  const email = await accept();
  const late = (await claim(email.id))!;
  await advanceClock(leaseMs + 1000);
  const successor = (await claim(email.id))!;
  const starts = (token: Buffer) => system.updateHandoverStarted({ id: email.id, token, at: now() });
  expect(await Promise.all([starts(late.token), starts(successor.token)])).toEqual([false, true]);
});

// Shows F13
test('an attempt that the database kept for half of its lease is given back before it speaks, and made again', async () => {
  const email = await accept();
  forget(own.workspaceId, own.domain);
  const unlock = await lockTable('email_domains');
  const tried = attempt(email.id);
  await waitFor('it is claimed', async () => (await rowOf(email.id))!['lease_token'] !== null);
  await advanceClock((config.LEASE_SECONDS * 1000) / 2 + 1000);
  await unlock();
  expect(await tried).toEqual({ retryAt: expect.any(Date) });
  expect(email.count()).toBe(0);
  const row = await rowOf(email.id);
  expect(row).toMatchObject({
    status: 'queued',
    lease_token: null,
    handover_at: null,
    uncertain_count: 0,
    claims: 0,
  });
  expect(await attempt(email.id)).toBe('done');
  expect(email.count()).toBe(1);
});

// Shows F13
test('a late worker in one batch with one that claimed its row together with another does not speak', async () => {
  const [stolen, other] = [await accept(), await accept()];
  const late = (await claim(stolen.id))!;
  await advanceClock(leaseMs + 1000);
  const [, holder] = await Promise.all([claim(stolen.id), claim(other.id)]);
  const starts = (id: string, token: Buffer) => system.updateHandoverStarted({ id, token, at: now() });
  expect(await Promise.all([starts(stolen.id, late.token), starts(other.id, holder!.token)])).toEqual([
    false,
    true,
  ]);
  const before = await rowOf(stolen.id);
  const givesBack = (id: string, token: Buffer) => system.updateHeldBack({ id, token, at: now() });
  await Promise.all([givesBack(stolen.id, late.token), givesBack(other.id, holder!.token)]);
  expect(await rowOf(stolen.id)).toEqual(before);
  expect(await rowOf(other.id)).toMatchObject({ lease_token: null, parked: 1 });
});

test('in a batch of outcomes what is written with several of them for one thing is written once', async () => {
  const emails = [await accept(), await accept(), await accept()];
  const claimed = await Promise.all(emails.map(({ id }) => claim(id)));
  const written: string[] = [];
  const outcomes = claimed.map((one, index) => {
    const sent = advance(one!.record, 'sent', { at: now() });
    const write = async () => void written.push(sent.id);
    const also = { of: index < 2 ? 'one' : 'other', write };
    return system.finishEmail({
      email: sent,
      token: one!.token,
      events: [eventOf(sent)],
      also,
    });
  });
  expect(await Promise.all(outcomes)).toEqual([true, true, true]);
  expect(written).toEqual([emails[1]!.id, emails[2]!.id]);
});

test('in a batch of outcomes the late ones are left out and the others written', async () => {
  const emails = [await accept(), await accept(), await accept()];
  const claimed = await Promise.all(emails.map(({ id }) => claim(id)));
  const stolen = emails[1]!;
  await query('UPDATE emails SET lease_token = ? WHERE id = ?', [Buffer.alloc(16, 7), idToBytes(stolen.id)]);
  const outcomes = claimed.map((one) => {
    const sent = advance(one!.record, 'sent', { at: now() });
    return system.finishEmail({ email: sent, token: one!.token, events: [eventOf(sent)] });
  });
  expect(await Promise.all(outcomes)).toEqual([true, false, true]);
  const statuses = await Promise.all(emails.map(async (email) => (await email.read()).status));
  expect(statuses).toEqual(['sent', 'queued', 'sent']);
  expect(await Promise.all(emails.map((email) => email.eventTypes()))).toEqual([
    ['email.queued', 'email.sent'],
    ['email.queued'],
    ['email.queued', 'email.sent'],
  ]);
});

// Shows F36
test('hundreds of emails claimed at once each go out once', async () => {
  const emails = await Promise.all(Array.from({ length: 150 }, accept));
  const attempts = emails.flatMap(({ id }) => [attempt(id), attempt(id)]);
  const outcomes = await Promise.all(attempts);
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(150);
  expect(emails.map(({ count }) => count())).toEqual(Array(150).fill(1));
});
