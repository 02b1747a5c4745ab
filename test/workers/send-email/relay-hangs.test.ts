// @apart: which workspaces are quick, and whether the relay is paused, is what one process remembers.
// @slow: workspaces wait for a relay that hangs.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { listAllowances } from '../../../shared/db/email/limits.system.ts';
import { attempt, deliver } from '../../../shared/domain/email/delivery/delivery.ts';
import { relayCircuitBreaker } from '../../../shared/domain/email/delivery/relay-circuit-breaker.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { closeSmtp, smtpStats } from '../../../shared/transports/smtp.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { acceptMany } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { isPending, skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const deadlineMs = 600_000;

let sink: SmtpSink;
beforeEach(async () => {
  await query('TRUNCATE TABLE emails');
  await forgetRedis();
  sink = await startSmtpSink();
  // No hanging email is given up before a test says so.
  changeSettings({
    SMTP_URL: sink.url,
    SMTP_CONNECTIONS: 20,
    SMTP_TIMEOUT_SECONDS: deadlineMs / 1000,
    LEASE_SECONDS: (2 * deadlineMs) / 1000,
  });
  await closeSmtp();
});

/** The relay hangs after the dot of each email to this domain. */
const isHanging = (recipient: string) => recipient.endsWith('@hangs.example');

// Shows F27
test('while the emails of eight workspaces hang at the relay, the email of another goes out', async () => {
  sink.setMode((recipient) => (isHanging(recipient) ? 'hang after the dot' : 'accept'));
  const slow = await Promise.all(Array.from({ length: 8 }, () => workspace()));
  for (const one of slow)
    await acceptMany(one, 20, (index) => ({ recipient: `${one.workspaceId}.${index}@hangs.example` }));
  const workers = await runWorkers(['send-email']);
  onTestFinished(async () => {
    // A relay that is away would pause the process, for the other tests too.
    sink.setMode('accept');
    sink.dropConnections();
    await workers.stop();
  });
  const hangs = ({ workspaceId }: { workspaceId: string }) =>
    sink.messages.some(({ envelope }) => envelope.to[0]!.startsWith(workspaceId));
  await waitFor('emails of all of them hang', () => slow.every(hangs));
  const held = sink.messages.length;

  const email = await acceptEmail(await workspace(), { recipient: 'ada@example.com' });
  await waitFor('it is sent', async () => (await email.read()).status === 'sent', { timeoutMs: 60_000 });
  expect(sink.messages.filter(({ answer }) => answer === null).length).toBeGreaterThanOrEqual(held);
  const [ended] = await query('SELECT COUNT(*) AS emails FROM emails WHERE retries > 0');
  expect(Number(ended!['emails'])).toBe(0);
  // No email is claimed before it has a connection.
  const [claimed] = await query(
    "SELECT COUNT(*) AS emails FROM emails WHERE claims > 0 AND status = 'queued'",
  );
  expect(Number(claimed!['emails'])).toBeLessThanOrEqual(config.SMTP_CONNECTIONS);
  // The others leave the places of the process for jobs to emails that can go out.
  expect(smtpStats().waiting).toBeLessThanOrEqual(slow.length);
});

/** Lets an email of this workspace take the only connection and hang. */
async function hangOn(own: Awaited<ReturnType<typeof workspace>>) {
  changeSettings({ SMTP_CONNECTIONS: 1 });
  await closeSmtp();
  sink.setMode('hang after the dot');
  const { id } = await acceptEmail(own);
  const hanging = attempt(id);
  onTestFinished(async () => {
    sink.dropConnections();
    await hanging;
  });
  await sink.waitFor(1);
}

// Shows F27
test('an email that finds no connection comes back later and later', async () => {
  const own = await workspace();
  const skip = skippableTimers();
  await hangOn(own);
  const [first, second] = await acceptMany(own, 2);
  const turn = (email: { id: string }) =>
    deliver('transactional', { emailId: email.id, workspaceId: own.workspaceId });
  const waiting = turn(first!);
  await waitFor('it waits', () => smtpStats().waiting === 1);
  /** Returns how long the second email waits for its next turn: at least, and at most. */
  async function putOff(): Promise<[number, number]> {
    const before = now().getTime();
    const { retryAt } = (await turn(second!)) as { retryAt: Date };
    return [retryAt.getTime() - before, retryAt.getTime() - now().getTime()];
  }
  const waits: [number, number][] = [];
  for (let round = 0; round < 6; round += 1) waits.push(await putOff());
  expect(waits[0]![1]).toBeLessThan(1_000);
  expect(waits[2]![0]).toBeGreaterThanOrEqual(2_000);
  expect(waits[5]![1]).toBeLessThan(8_000);
  skip(1_000);
  expect(await waiting).toEqual({ retryAt: expect.any(Date) });
});

// Shows F27
test('an email whose workspace is paused waits for no connection', async () => {
  const own = await workspace();
  await hangOn(await workspace());
  for (let count = 0; count < 3; count += 1)
    relayCircuitBreaker.note(own.workspaceId, {
      kind: 'transport_fault',
      at: 'message',
      reason: 'timeout',
      detail: 'no answer',
    });
  const [email] = await acceptMany(own, 1);
  const outcome = deliver('transactional', { emailId: email!.id, workspaceId: own.workspaceId });
  expect(await isPending(outcome)).toBe(false);
  expect(await outcome).toEqual({ retryAt: expect.any(Date) });
});

// Shows F27
test('an email that found no free connection in time is put off: no attempt is counted, the relay is not blamed', async () => {
  changeSettings({ SMTP_CONNECTIONS: 1 });
  await closeSmtp();
  sink.setMode('hang after the dot');
  const own = await workspace();
  const first = await acceptEmail(own);
  const others = await acceptMany(own, 3);
  const skip = skippableTimers();
  const hanging = attempt(first.id);
  await sink.waitFor(1);
  const waiting = Promise.all(others.map(({ id }) => attempt(id)));
  await waitFor('they wait', () => smtpStats().waiting === 3);
  skip(deadlineMs / 2);
  for (const outcome of await waiting) expect(outcome).toEqual({ retryAt: expect.any(Date) });
  for (const { read } of others)
    expect(await read()).toMatchObject({ status: 'queued', retries: 0, claims: 0, handoverAt: null });
  expect(relayCircuitBreaker.isPaused(own.workspaceId)).toBe(false);
  skip(deadlineMs);
  await hanging;
  expect(await first.read()).toMatchObject({ retries: 1, uncertainCount: 1 });
});

// Shows F27
test('an email that found no free connection in time uses up no sending limit', async () => {
  const own = await workspace();
  await workspaces.change(own.workspaceId, { emailsPerMinute: 5, emailsPerDay: 5 });
  const left = async () => (await listAllowances([own.workspaceId], now())).get(own.workspaceId);
  const skip = skippableTimers();
  await hangOn(await workspace());
  const emails = await acceptMany(own, 5);
  const waiting = Promise.all(emails.map(({ id }) => attempt(id)));
  await waitFor('they wait', () => smtpStats().waiting === 5);
  expect(await left()).toBe(0);
  expect(await attempt((await acceptEmail(own)).id)).toBe('dropped');
  skip(deadlineMs / 2);
  for (const outcome of await waiting) expect(outcome).toEqual({ retryAt: expect.any(Date) });
  expect(await left()).toBe(5);
  const [{ held }] = await query<[{ held: Date | null }]>(
    'SELECT emails_held_until AS held FROM workspaces WHERE id = ?',
    [idToBytes(own.workspaceId)],
  );
  expect(held).toBe(null);
});

// Shows F27
test('a relay that is silent at the recipients of one workspace is not paused for the others', async () => {
  let met = 0;
  sink.setMode((recipient) => {
    if (!isHanging(recipient)) return 'accept';
    met += 1;
    return 'hang at RCPT';
  });
  const [slow, other] = [await workspace(), await workspace()];
  const silent = await acceptMany(slow, 3, () => ({ recipient: 'ada@hangs.example' }));
  const skip = skippableTimers();
  const attempts = Promise.all(silent.map(({ id }) => attempt(id)));
  await waitFor('the relay is silent', () => met === 3);
  skip(deadlineMs);
  await attempts;
  for (const { read } of silent) expect(await read()).toMatchObject({ status: 'queued', retries: 1 });
  expect(relayCircuitBreaker.isPaused(slow.workspaceId)).toBe(true);
  expect(relayCircuitBreaker.isPaused()).toBe(false);
  const email = await acceptEmail(other);
  const turn = { emailId: email.id, workspaceId: other.workspaceId };
  expect(await deliver('transactional', turn)).toBe('done');
  expect((await email.read()).status).toBe('sent');
});
