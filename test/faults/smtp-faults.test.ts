// @slow: it starts, stops and breaks processes of the platform.
import { beforeEach, expect, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { query } from '../../shared/db/client.ts';
import { attempt } from '../../shared/domain/email/delivery/delivery.ts';
import { closeSmtp } from '../../shared/transports/smtp.ts';
import { acceptEmail } from '../support/data/accepted-email.ts';
import { workspace } from '../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { startWorkerProcess } from '../support/processes/processes.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { type SmtpMode, type SmtpSink, startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { advanceClock, advanceClockTo } from '../support/time/advance-clock.ts';
import { skippableTimers } from '../support/time/skip-time.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  await query('TRUNCATE TABLE emails');
  await forgetRedis();
  own = await workspace();
});

type Accepted = Awaited<ReturnType<typeof acceptEmail>>;

/** Counts the copies that the relay has seen whole, accepted or not; checks that all have the same bytes. */
function copiesOf(sink: SmtpSink, email: Accepted): number {
  const messageId = `\r\nMessage-ID: <${email.id}@${own.domain}>\r\n`;
  const copies = sink.messages.filter(({ raw }) => raw.includes(messageId));
  for (const { raw } of copies) expect(raw.equals(copies[0]!.raw)).toBe(true);
  return copies.length;
}

const whole = { seenWhole: true };
const notWhole = { seenWhole: false };
/** How a relay can treat one message. */
const aboutMessages: [SmtpMode, { seenWhole: boolean; failsWith?: string }][] = [
  ['accept', whole],
  ['accept, then reset', whole],
  ['drop after the dot', whole],
  ['hang after the dot', whole],
  ['421 after the dot', whole],
  ['451 after the dot', whole],
  ['554 after the dot', { ...whole, failsWith: 'content_refused' }],
  ['450 at RCPT', notWhole],
  ['421 at RCPT', notWhole],
  ['550 at RCPT', { ...notWhole, failsWith: 'mailbox_unknown' }],
  ['550 at RCPT, then closed', { ...notWhole, failsWith: 'mailbox_unknown' }],
  ['drop in DATA', notWhole],
];
/** How a relay can treat a connection before there is a message. */
const aboutConnections: SmtpMode[] = [
  'drop in the banner',
  '421 greeting',
  'hang in the banner',
  'STARTTLS fails',
  'TLS handshake fails',
  'drop at MAIL',
  '421 at MAIL',
  'one byte a second',
];
const ofConnections = aboutConnections.map((mode): (typeof aboutMessages)[number] => [mode, notWhole]);

test.each([...aboutMessages, ...ofConnections])(
  'relay: %s. With the worker alive the email comes to its end, with no copy more than there must be',
  async (mode, { seenWhole, failsWith }) => {
    const sink = await startSmtpSink({ mode });
    changeSettings({ SMTP_URL: sink.url });
    await closeSmtp();
    const email = await acceptEmail(own, { recipient: 'ada@example.com' });
    const isSlow = mode.startsWith('hang') || mode === 'one byte a second';
    const skip = isSlow ? skippableTimers() : undefined;
    const attempted = attempt(email.id);
    if (skip) {
      await waitFor(
        'it has come to that',
        () => sink.openConnections() === 1 && sink.messages.length === Number(seenWhole),
      );
      skip(config.SMTP_TIMEOUT_SECONDS * 1000);
    }
    const outcome = await attempted;
    const isTaken = mode.startsWith('accept');
    if (failsWith) {
      expect(outcome).toBe('done');
      expect(await email.read()).toMatchObject({ status: 'failed', reason: { code: failsWith } });
      expect(copiesOf(sink, email)).toBe(seenWhole ? 1 : 0);
      return;
    }
    if (!isTaken) {
      expect(await email.read()).toMatchObject({ status: 'queued', retries: 1 });
      sink.setMode('accept');
      await advanceClockTo((await email.read()).dueAt!);
      expect(await attempt(email.id)).toBe('done');
    }
    expect(await email.read()).toMatchObject({ status: 'sent', reason: null });
    expect(copiesOf(sink, email)).toBe(!isTaken && seenWhole ? 2 : 1);
    expect(await email.eventTypes()).toEqual([
      'email.queued',
      ...(isTaken ? [] : ['email.delayed']),
      'email.sent',
    ]);
  },
);

const inHandover = async () => {
  const [row] = await query('SELECT COUNT(*) AS emails FROM emails WHERE handover_at IS NOT NULL');
  return Number(row!['emails']);
};

/**
 * Lets a worker hand all emails to the sink at once, and kills the worker before it can write any outcome to the
 * database. Then the sink accepts everything, and another worker takes over.
 */
async function killBetween(emails: Accepted[], sink: SmtpSink, hasMet: () => boolean): Promise<void> {
  const [relay, database] = [await startTcpProxy(sink.url), await startTcpProxy(config.MYSQL_URL, 3306)];
  relay.freeze();
  const worker = await startWorkerProcess(['send-email'], {
    SMTP_URL: relay.url,
    MYSQL_URL: database.url,
    // A workspace that is not known to be quick has a third of those of its lane.
    SMTP_CONNECTIONS: String(4 * emails.length),
    SMTP_TIMEOUT_SECONDS: '60',
  });
  await waitFor('all are about to be handed over', async () => (await inHandover()) === emails.length);
  // From here the database is frozen, so all workers' connections to the relay must be open before.
  await waitFor('each has a connection to the relay', () => relay.connections() >= emails.length);
  database.freeze();
  await relay.pass();
  await waitFor('the relay has done what it does', hasMet);
  await worker.kill();

  sink.setMode('accept');
  changeSettings({ SMTP_URL: sink.url });
  await closeSmtp();
  await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
  const workers = await runWorkers(['send-email', 'sweep']);
  await waitFor('all have come to their end', async () => {
    const rows = await query("SELECT id FROM emails WHERE status = 'queued'");
    return rows.length === 0;
  });
  await workers.stop();
}

// Shows F9
test('a worker is killed when the relay has done what it does to a message: each is sent, and a copy is the same', async () => {
  const modes = new Map(aboutMessages.map(([mode], index) => [`person-${index}@example.com`, mode]));
  const met = new Set<string>();
  const sink = await startSmtpSink();
  sink.setMode((recipient) => {
    const mode = modes.get(recipient);
    if (mode) met.add(recipient);
    return mode ?? 'accept';
  });
  const emails: Accepted[] = [];
  for (const recipient of modes.keys()) emails.push(await acceptEmail(own, { recipient }));
  const seenWhole = aboutMessages.filter(([, { seenWhole: isWhole }]) => isWhole).length;
  await killBetween(emails, sink, () => met.size === modes.size && sink.messages.length === seenWhole);
  for (const [index, [mode, expected]] of aboutMessages.entries()) {
    const email = emails[index]!;
    const { status, uncertainCount } = await email.read();
    expect({ mode, status, uncertainCount, copies: copiesOf(sink, email) }).toEqual({
      mode,
      status: 'sent',
      uncertainCount: 1,
      copies: expected.seenWhole ? 2 : 1,
    });
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.sent']);
  }
});

// Shows F8
test('a worker is killed at a relay that lets nobody come to a message: each email is sent once', async () => {
  const sink = await startSmtpSink();
  for (const [index, mode] of aboutConnections.entries()) sink.setMode(mode, { connection: index + 1 });
  const emails = await Promise.all(aboutConnections.map(() => acceptEmail(own)));
  // Half may stay open: one connection hangs, one is slow, and some stay open after the relay has refused.
  await killBetween(emails, sink, () => sink.openConnections() <= emails.length / 2);
  for (const email of emails) {
    expect((await email.read()).status).toBe('sent');
    expect(copiesOf(sink, email)).toBeLessThanOrEqual(2);
  }
  const rows = await query('SELECT id FROM emails WHERE uncertain_count = 1');
  expect(rows).toHaveLength(emails.length);
  expect(sink.messages).toHaveLength(emails.length);
});
