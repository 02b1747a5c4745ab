import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { findEmail } from '../../../shared/db/email/emails.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import { eraseRecipient } from '../../../shared/domain/email/erasure.ts';
import * as retention from '../../../shared/domain/operations/retention.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  changeSettings({ SMTP_URL: (await startSmtpSink()).url });
  own = await workspace();
});

const dayMs = 86_400_000;
const isKept = async ({ id }: { id: string }) => (await findEmail(own.workspaceId, id)) !== null;

async function sent(recipient = 'kept@example.com', from = own) {
  const email = await acceptEmail(from, { recipient });
  expect(await attempt(email.id)).toBe('done');
  return email;
}

test('emails are kept for EMAIL_RETENTION_DAYS, and longer where they still wait to be sent', async () => {
  changeSettings({ EMAIL_RETENTION_DAYS: 30 });
  const old = await sent();
  const scheduledAt = new Date(now().getTime() + 60 * dayMs).toISOString();
  const waiting = await acceptEmail(own, { scheduledAt });
  await advanceClock(29 * dayMs);
  const young = await sent();
  await retention.purge();
  expect(await Promise.all([old, waiting, young].map(isKept))).toEqual([true, true, true]);
  await advanceClock(dayMs + 60_000);
  await retention.purge();
  expect(await Promise.all([old, waiting, young].map(isKept))).toEqual([false, true, true]);
});

test('an email that was scheduled is kept for as long after its time', async () => {
  changeSettings({ EMAIL_RETENTION_DAYS: 30 });
  const scheduledAt = new Date(now().getTime() + 60 * dayMs).toISOString();
  const email = await acceptEmail(own, { scheduledAt });
  await advanceClock(60 * dayMs + 60_000);
  expect(await attempt(email.id)).toBe('done');
  await advanceClock(29 * dayMs);
  await retention.purge();
  expect(await isKept(email)).toBe(true);
  await advanceClock(dayMs);
  await retention.purge();
  expect(await isKept(email)).toBe(false);
});

test('erasing an address deletes what was sent to it, however it is written, and nothing else', async () => {
  const other = await workspace();
  const [one, two] = [await sent('grace@example.com'), await sent('grace@EXAMPLE.com')];
  const kept = [await sent('grace2@example.com')];
  const scheduledAt = new Date(now().getTime() + dayMs).toISOString();
  kept.push(await acceptEmail(own, { recipient: 'grace@example.com', scheduledAt }));
  const foreign = await sent('grace@example.com', other);
  expect(await eraseRecipient(own.workspaceId, 'not an address')).toBeNull();
  expect(await eraseRecipient(own.workspaceId, 'Grace@Example.com')).toEqual({ erased: 2, waiting: 1 });
  expect(await Promise.all([one, two].map(isKept))).toEqual([false, false]);
  expect(await Promise.all(kept.map(isKept))).toEqual([true, true]);
  expect(await findEmail(other.workspaceId, foreign.id)).not.toBeNull();
});

test('the operator erases by a command', async () => {
  const email = await sent('erased@example.com');
  const erased = await admin('email', 'erase', own.workspaceId, 'erased@example.com');
  expect(erased).toEqual({ code: 0, printed: { erased: 1, waiting: 0 } });
  expect(await isKept(email)).toBe(false);
});
