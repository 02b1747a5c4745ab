import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { acceptMany, emailCounts } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
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
  await query('TRUNCATE TABLE emails');
  own = await workspace();
  await forgetRedis();
});

const hourMs = 3_600_000;
const block = (sendingBlocked: boolean) => workspaces.change(own.workspaceId, { sendingBlocked });

test('what waits when sending is blocked goes on waiting, and goes out when the block is lifted', async () => {
  const emails = await acceptMany(own, 5);
  await block(true);
  const before = sink.messages.length;
  for (const { id } of emails) expect(await attempt(id)).toBe('dropped');
  expect(await emailCounts(own)).toMatchObject({ inRedis: 0, parked: 5 });
  await advanceClock(47 * hourMs);
  const workers = await runWorkers(['send-email', 'sweep']);
  await recovery.sweep();
  // A job made before the block finds the workspace blocked too.
  await waitFor('all wait in their rows', async () => (await emailCounts(own)).parked === 5);
  expect(sink.messages).toHaveLength(before);
  await block(false);
  await waitFor('all are sent', async () => (await emailCounts(own)).sent === 5);
  for (const email of emails) expect(await email.eventTypes()).toEqual(['email.queued', 'email.sent']);
  await workers.stop();
});

test('what has waited for 48 hours fails: rejected, to be sent again later', async () => {
  const emails = await acceptMany(own, 3);
  await block(true);
  await attempt(emails[0]!.id);
  await advanceClock(48 * hourMs + 1_000);
  const workers = await runWorkers(['send-email', 'sweep']);
  await waitFor('all have failed', async () => (await emailCounts(own)).failed === 3);
  await workers.stop();
  for (const email of emails) {
    expect((await email.read()).reason).toEqual({
      category: 'rejected',
      code: 'sending_blocked',
      description: expect.stringMatching(/\S/),
      retryable: true,
    });
    expect(await email.eventTypes()).toEqual(['email.queued', 'email.failed']);
  }
});

test('a one-time code fails after half an hour of it', async () => {
  const email = await acceptEmail(own, { kind: 'authentication' });
  await block(true);
  await attempt(email.id);
  await advanceClock(29 * 60_000);
  await recovery.sweep();
  expect((await email.read()).parked).toBe(true);
  await advanceClock(2 * 60_000);
  await recovery.sweep();
  await attempt(email.id);
  expect((await email.read()).reason).toMatchObject({ category: 'rejected', code: 'sending_blocked' });
});

test('what a limit has delayed for days outlives a short block: the 48 hours run from the block', async () => {
  const [email, byVersionBefore] = await acceptMany(own, 2);
  await query('UPDATE emails SET created_at = created_at - INTERVAL 3 DAY, due_at = due_at - INTERVAL 3 DAY');
  const sweepAndAttempt = async (id: string) => {
    await recovery.sweep();
    return attempt(id);
  };
  await block(true);
  for (const hours of [0, 47]) {
    await advanceClock(hours * hourMs);
    expect(await sweepAndAttempt(email!.id)).toBe('dropped');
    expect(await email!.read()).toMatchObject({ status: 'queued', parked: true });
  }
  await block(false);
  await block(true);
  await advanceClock(47 * hourMs);
  await sweepAndAttempt(email!.id);
  expect((await email!.read()).status).toBe('queued');
  await advanceClock(2 * hourMs);
  await sweepAndAttempt(email!.id);
  expect((await email!.read()).reason).toMatchObject({ code: 'sending_blocked' });
  // The version before does not say since when it has blocked a workspace.
  await block(false);
  await block(true);
  await query('UPDATE workspaces SET sending_blocked_at = NULL WHERE id = ?', [idToBytes(own.workspaceId)]);
  await sweepAndAttempt(byVersionBefore!.id);
  expect((await byVersionBefore!.read()).reason).toMatchObject({ code: 'sending_blocked' });
});

test('the time of a scheduled email runs from when it was due', async () => {
  const scheduledAt = new Date(now().getTime() + 60 * hourMs).toISOString();
  const email = await acceptEmail(own, { scheduledAt });
  await block(true);
  await advanceClock(61 * hourMs);
  await attempt(email.id);
  expect(await email.read()).toMatchObject({ status: 'queued', parked: true });
  await block(false);
  await attempt(email.id);
  expect((await email.read()).status).toBe('sent');
});

test('a suppressed recipient is told of without waiting, and the block is of one workspace only', async () => {
  const other = await workspace();
  await block(true);
  const email = await acceptEmail(other);
  expect(await attempt(email.id)).toBe('done');
  expect((await email.read()).status).toBe('sent');
});
