import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import { forget } from '../../../shared/domain/email/domains/signing.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { closeQueues, producerConnection } from '../../../shared/queue/queue.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { countOf } from '../../support/database/counts.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const minuteMs = 60_000;

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  const sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
});
beforeEach(async () => {
  own = await workspace();
});

const isDomain = 'workspace_id = ? AND name = ?';
const domainKey = () => [idToBytes(own.workspaceId), own.domain];

/** Makes the domain's key such that it does not open; returns the function that brings the right one back. */
async function breakKey(): Promise<() => Promise<void>> {
  const [row] = await query(`SELECT dkim_private_key FROM email_domains WHERE ${isDomain}`, domainKey());
  const change = async (key: Buffer) => {
    await query(`UPDATE email_domains SET dkim_private_key = ? WHERE ${isDomain}`, [key, ...domainKey()]);
    forget(own.workspaceId, own.domain);
  };
  await change(Buffer.from('gone:nothing'));
  return () => change(row!['dkim_private_key'] as Buffer);
}

const ownFaults = () => countOf('own_faults{work="email"}');

type Accepted = Awaited<ReturnType<typeof acceptEmail>>;
async function tryWhenDue(email: Accepted): Promise<void> {
  await advanceClockTo((await email.read()).dueAt!);
  await attempt(email.id).catch(() => undefined);
}

test('an email whose key does not open waits for the operator, however often it was tried, and goes out then', async () => {
  const email = await acceptEmail(own);
  const repair = await breakKey();
  const faultsBefore = await ownFaults();
  for (let tries = 0; tries < 12; tries += 1) {
    await tryWhenDue(email);
    expect(await email.read()).toMatchObject({ status: 'queued', parked: true, claims: 0, retries: 0 });
  }
  expect((await ownFaults()) - faultsBefore).toBe(12);

  await repair();
  await tryWhenDue(email);
  expect(await email.read()).toMatchObject({ status: 'sent', reason: null });
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.sent']);
});

test.each([
  ['transactional', 48 * 60],
  ['authentication', 30],
])('an email of kind %s whose key never opens fails after %d minutes', async (kind, minutes) => {
  const email = await acceptEmail(own, { kind });
  const repair = await breakKey();
  await tryWhenDue(email);
  const { createdAt, dueAt } = await email.read();
  expect(dueAt!.getTime() - createdAt.getTime()).toBeGreaterThanOrEqual(4 * minuteMs);
  await advanceClockTo(new Date(createdAt.getTime() + (minutes - 10) * minuteMs));
  await tryWhenDue(email);
  expect((await email.read()).status).toBe('queued');
  await advanceClockTo(new Date(createdAt.getTime() + minutes * minuteMs));
  await tryWhenDue(email);
  expect(await email.read()).toMatchObject({ status: 'failed', reason: { code: 'internal_error' } });
  await repair();
});

test('an email that no relay could take is no doubtful one: it waits for the operator', async () => {
  const email = await acceptEmail(own);
  // No process starts with such a setting.
  changeSettings({ RETURN_PATH_DOMAIN: 'bücher.example' });
  for (let tries = 0; tries < 3; tries += 1) await tryWhenDue(email);
  expect(await email.read()).toMatchObject({
    status: 'queued',
    parked: true,
    handoverAt: null,
    uncertainCount: 0,
  });
  changeSettings({ RETURN_PATH_DOMAIN: undefined });
  await tryWhenDue(email);
  expect(await email.read()).toMatchObject({ status: 'sent', reason: null });
});

test('emails whose key does not open leave the room in Redis to others of their workspace', async () => {
  changeSettings({ EMAIL_JOBS_PER_WORKSPACE: 2 });
  await forgetRedis();
  const broken = [await acceptEmail(own), await acceptEmail(own)];
  await breakKey();
  for (const email of broken) await tryWhenDue(email);
  // The workspace gets a second domain, whose key opens.
  const sound = await workspace();
  await query('UPDATE email_domains SET workspace_id = ? WHERE name = ?', [
    idToBytes(own.workspaceId),
    sound.domain,
  ]);
  const email = await acceptEmail({ ...own, sender: sound.sender });
  const workers = await runWorkers(['send-email', 'sweep']);
  await waitFor('it is sent', async () => (await email.read()).status === 'sent', { timeoutMs: 30_000 });
  await workers.stop();
});

test('an email that is put off keeps its time where Redis refuses its job', async () => {
  const email = await acceptEmail(own);
  const repair = await breakKey();
  await tryWhenDue(email);
  const { dueAt } = await email.read();
  const { REDIS_URL } = process.env;
  // The URL changes before the queues close, so that a queue opened at that moment finds no Redis either.
  changeSettings({ REDIS_URL: 'redis://127.0.0.1:1' });
  try {
    await closeQueues();
    await recovery.sweep();
  } finally {
    changeSettings({ REDIS_URL: REDIS_URL! });
    await closeQueues();
    await waitFor('Redis answers', () => producerConnection().ping());
  }
  expect(await email.read()).toMatchObject({ status: 'queued', parked: true, dueAt });
  await recovery.sweep();
  expect(await email.read()).toMatchObject({ status: 'queued', parked: false, dueAt });
  await repair();
});

test('an email that cannot be composed uses up no sending limit, however often it is tried', async () => {
  await workspaces.change(own.workspaceId, { emailsPerDay: 5 });
  const attachment = { filename: 'a.pdf', contentType: 'application/pdf', content: 'YQ==' };
  const broken = await acceptEmail(own, { attachments: [attachment] });
  const email = await acceptEmail(own);
  await query('RENAME TABLE email_attachments TO email_attachments_away');
  try {
    for (let tries = 0; tries < 6; tries += 1) await tryWhenDue(broken);
    expect((await broken.read()).status).toBe('queued');
    expect(await attempt(email.id)).toBe('done');
  } finally {
    await query('RENAME TABLE email_attachments_away TO email_attachments');
  }
  expect((await email.read()).status).toBe('sent');
});
