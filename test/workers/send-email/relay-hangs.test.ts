// @apart: which workspaces are quick, and whether the relay is paused, is what one process remembers.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt, deliver } from '../../../shared/domain/email/delivery/delivery.ts';
import { relayCircuitBreaker } from '../../../shared/domain/email/delivery/relay-circuit-breaker.ts';
import { closeSmtp, smtpStats } from '../../../shared/transports/smtp.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { acceptMany } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { skippableTimers } from '../../support/time/skip-time.ts';
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
