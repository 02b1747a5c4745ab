import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idFromBytes } from '../../../shared/formats/ids.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { acceptMany, emailCounts } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
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
beforeEach(async () => {
  sink.setMode('accept');
  await query('TRUNCATE TABLE emails');
  own = await workspace();
  await forgetRedis();
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const limit = (changes: Parameters<typeof workspaces.change>[1]) =>
  workspaces.change(own.workspaceId, changes);
const attemptAll = async (emails: { id: string }[]) => {
  for (const { id } of emails) await attempt(id);
};
/** Lets the sweep run, then attempts all emails that are not parked, in this process. */
async function attemptDue(): Promise<void> {
  await recovery.sweep();
  const rows = await query<{ id: Buffer }[]>(
    "SELECT id FROM emails WHERE status = 'queued' AND parked = 0 ORDER BY due_at",
  );
  await attemptAll(rows.map((row) => ({ id: idFromBytes('email', row['id']) })));
}
const sent = async () => {
  const rows = await query("SELECT COUNT(*) AS emails FROM emails WHERE status = 'sent'");
  return Number(rows[0]!['emails']);
};

test.each([
  ['minute', { emailsPerMinute: 5 }, minuteMs],
  ['hour', { emailsPerHour: 5 }, hourMs],
  ['day', { emailsPerDay: 5 }, 24 * hourMs],
] as const)(
  'of a limit of 5 a %s, 5 go out and the rest waits for its turn, in order',
  async (_, limits, periodMs) => {
    await limit(limits);
    const emails: Awaited<ReturnType<typeof acceptEmail>>[] = [];
    for (let made = 0; made < 12; made += 1) emails.push(await acceptEmail(own));
    await attemptAll(emails);
    expect(await sent()).toBe(5);
    expect(await emailCounts(own)).toMatchObject({ parked: 7, failed: 0 });
    for (const email of emails.slice(5)) {
      const record = await email.read();
      expect(record).toMatchObject({
        status: 'queued',
        retries: 0,
        claims: 0,
        handoverAt: null,
        triedAt: null,
      });
      expect(record.dueAt).toEqual(record.createdAt);
      expect(await email.eventTypes()).toEqual(['email.queued']);
    }
    await advanceClock(periodMs / 2);
    await attemptDue();
    expect(await sent()).toBe(5);
    // Sending is counted in slots of a sixtieth of the period; the current slot counts as a whole, so wait longer.
    await advanceClock(periodMs / 2 + periodMs / 30);
    await attemptDue();
    expect(await sent()).toBe(10);
    const statuses = await Promise.all(emails.map(async (email) => (await email.read()).status));
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill('sent'));
    await advanceClock(periodMs * 1.1);
    await attemptDue();
    expect(await sent()).toBe(12);
  },
);

test('of several limits each holds, and without one nothing is held', async () => {
  await limit({ emailsPerMinute: 3, emailsPerHour: 5 });
  await attemptAll(await acceptMany(own, 9));
  expect(await sent()).toBe(3);
  await advanceClock(62_000);
  await attemptDue();
  expect(await sent()).toBe(5);
  await advanceClock(62_000);
  await attemptDue();
  expect(await sent()).toBe(5);
  await limit({ emailsPerMinute: null, emailsPerHour: null });
  await attemptDue();
  expect(await sent()).toBe(9);
});

test('a raised limit lets out at once what waits', async () => {
  await limit({ emailsPerDay: 2 });
  await attemptAll(await acceptMany(own, 6));
  expect(await sent()).toBe(2);
  await limit({ emailsPerDay: 5 });
  await attemptDue();
  expect(await sent()).toBe(5);
});

test('a limit delays and never refuses: after days of waiting the time for retries only begins', async () => {
  await limit({ emailsPerDay: 1 });
  const [first, second] = await acceptMany(own, 2);
  await attemptAll([first!, second!]);
  // The email seems to have waited 10 days, as if others had used up the limit all that time.
  await query("UPDATE emails SET created_at = created_at - INTERVAL 10 DAY WHERE status = 'queued'");
  await advanceClock(26 * hourMs);
  sink.setMode('450 at RCPT');
  await attemptDue();
  expect(await second!.read()).toMatchObject({ status: 'queued', retries: 1 });
  expect(await second!.eventTypes()).toEqual(['email.queued', 'email.delayed']);
});

test('scheduled emails keep to the limit as well, and may be later than their time', async () => {
  await limit({ emailsPerHour: 2 });
  const scheduledAt = new Date(now().getTime() + 10 * minuteMs).toISOString();
  const emails = await acceptMany(own, 4, () => ({ scheduledAt }));
  await advanceClock(11 * minuteMs);
  await attemptDue();
  expect(await sent()).toBe(2);
  await advanceClock(62 * minuteMs);
  await attemptDue();
  expect((await Promise.all(emails.map(({ read }) => read()))).map(({ status }) => status)).toEqual(
    Array(4).fill('sent'),
  );
});

test('when the limit allows more, one-time codes are first, however many others wait', async () => {
  await limit({ emailsPerMinute: 4 });
  await attemptAll(await acceptMany(own, 20, () => ({ kind: 'marketing' })));
  const codes = await acceptMany(own, 3, () => ({ kind: 'authentication' }));
  await attemptAll(codes);
  expect(await emailCounts(own, 'authentication')).toMatchObject({ sent: 0, parked: 3 });
  await advanceClock(62_000);
  await attemptDue();
  expect(await emailCounts(own, 'authentication')).toMatchObject({ sent: 3, parked: 0 });
  expect(await emailCounts(own, 'marketing')).toMatchObject({ sent: 5 });
});

test('what never comes to the relay uses up nothing: a suppressed recipient, a domain that is gone', async () => {
  await limit({ emailsPerDay: 1 });
  const lost = await acceptEmail(own, {}, { sender: 'hello@unverified.example' });
  const good = await acceptEmail(own);
  await attemptAll([lost, good]);
  expect((await lost.read()).status).toBe('failed');
  expect((await good.read()).status).toBe('sent');
});

test('another workspace has a limit of its own', async () => {
  await limit({ emailsPerDay: 1 });
  const other = await workspace();
  await attemptAll([...(await acceptMany(own, 3)), ...(await acceptMany(other, 3))]);
  expect(await emailCounts(own)).toMatchObject({ sent: 1, parked: 2 });
  expect(await emailCounts(other)).toMatchObject({ sent: 3, parked: 0 });
});

// Shows A51
test('two worker processes together send exactly as many as the limit allows, while more come', async () => {
  await limit({ emailsPerDay: 60 });
  const before = sink.messages.length;
  await acceptMany(own, 120);
  // One of them is this process.
  const names = ['send-email', 'sweep'];
  const workers = await Promise.all([startWorkerProcess(names), runWorkers(names)]);
  await acceptMany(own, 40, () => ({ kind: 'marketing' }));
  await waitFor('the limit is used up and all others wait', async () => {
    const [transactional, marketing] = [await emailCounts(own), await emailCounts(own, 'marketing')];
    return transactional.sent + marketing.sent === 60 && transactional.inRedis + marketing.inRedis === 0;
  });
  const sweeping = await runWorkers(['sweep']);
  await sweeping.stop();
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(sink.messages.length - before).toBe(60);
  expect(await sent()).toBe(60);
});
