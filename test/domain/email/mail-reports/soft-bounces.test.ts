import { beforeAll, expect, test } from 'vitest';
import { listSuppressions } from '../../../../shared/db/suppressions.ts';
import { attempt } from '../../../../shared/domain/email/delivery/delivery.ts';
import { noteSoftBounce } from '../../../../shared/domain/email/mail-reports/soft-bounces.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { closeSmtp } from '../../../../shared/transports/smtp.ts';
import { acceptEmail } from '../../../support/data/accepted-email.ts';
import { workspace } from '../../../support/data/factory.ts';
import { statusReport } from '../../../support/data/mail-reports.ts';
import { emailIn, receive } from '../../../support/data/reported-email.ts';
import { copyRow, idOfCopy } from '../../../support/database/copied-rows.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { rowsRead } from '../../../support/database/rows-read.ts';
import { freePort } from '../../../support/processes/free-port.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { startSmtpSink } from '../../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

const dayMs = 86_400_000;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  changeSettings({ EMAIL_RETENTION_DAYS: 9_000 });
  own = await workspace();
});

let recipients = 0;
const newRecipient = () => `grace${(recipients += 1)}@example.com`;
const report = (recipient: string, status: string, action?: 'delivered') =>
  statusReport({ recipient, status, diagnostic: null, ...(action && { action }) });

/** Sends an email to the recipient, and receives a report with this status. */
async function bounce(recipient: string, status = '5.2.2', action?: 'delivered'): Promise<void> {
  const email = await emailIn('sent', own, { recipient });
  await receive(report(recipient, status, action), [email.returnPath]);
}

async function suppressionOf(recipient: string) {
  const page = { limit: 10, before: null };
  const { records } = await listSuppressions(own.workspaceId, { emailKey: recipient }, page);
  return records.map(({ source, scope }) => [source, scope]);
}

/** Changes the relay; forgets the connections to the previous one and all that is known of it. */
async function useRelay(url: string): Promise<void> {
  changeSettings({ SMTP_URL: url });
  await closeSmtp();
}

test('five soft bounces over seven days suppress the address, source system', async () => {
  const recipient = newRecipient();
  for (let count = 1; count <= 4; count += 1) await bounce(recipient);
  await advanceClock(7 * dayMs - 60_000);
  expect(await suppressionOf(recipient)).toEqual([]);
  await advanceClock(120_000);
  await bounce(recipient);
  expect(await suppressionOf(recipient)).toEqual([['system', 'all']]);
});

test('it takes five soft bounces, however many emails to the address come after them', async () => {
  const recipient = newRecipient();
  for (let count = 1; count <= 4; count += 1) await bounce(recipient);
  // A busy address gets as many emails; their outcome is still open.
  const waiting = await emailIn('sent', own, { recipient });
  await copyRow('emails', idToBytes(waiting.id), 1_200, {
    id: idOfCopy,
  });
  await advanceClock(8 * dayMs);
  await bounce(recipient);
  expect(await suppressionOf(recipient)).toEqual([['system', 'all']]);
});

test('where no email to the address is old enough, few of its emails are read', async () => {
  const recipient = newRecipient();
  await bounce(recipient);
  const waiting = await emailIn('sent', own, { recipient });
  await copyRow('emails', idToBytes(waiting.id), 1_200, {
    id: idOfCopy,
  });
  const last = await waiting.read();
  expect(await rowsRead(() => noteSoftBounce(last))).toBeLessThan(100);
});

test('fewer than five, or five within a shorter time, suppress nothing', async () => {
  const [few, quick] = [newRecipient(), newRecipient()];
  for (let count = 1; count <= 3; count += 1) await bounce(few);
  for (let count = 1; count <= 6; count += 1) await bounce(quick);
  await advanceClock(6 * dayMs);
  await bounce(quick);
  await advanceClock(2 * dayMs);
  await bounce(few);
  expect([await suppressionOf(few), await suppressionOf(quick)]).toEqual([[], []]);
});

test('a delivery between begins the count anew, and another workspace counts for itself', async () => {
  const recipient = newRecipient();
  for (let count = 1; count <= 4; count += 1) await bounce(recipient);
  await advanceClock(8 * dayMs);
  await bounce(recipient, '2.0.0', 'delivered');
  await advanceClock(60_000);
  for (let count = 1; count <= 4; count += 1) await bounce(recipient);
  expect(await suppressionOf(recipient)).toEqual([]);
  await advanceClock(8 * dayMs);
  await bounce(recipient);
  expect(await suppressionOf(recipient)).toEqual([['system', 'all']]);
});

test('an email that was reported as delivered and then bounced is no delivery', async () => {
  const recipient = newRecipient();
  const bounceLate = async () => {
    const email = await emailIn('delivered', own, { recipient });
    await receive(report(recipient, '5.2.2'), [email.returnPath]);
    expect(await email.state()).toEqual(['failed', 'soft_bounce mailbox_full']);
  };
  for (let count = 1; count <= 4; count += 1) {
    await bounceLate();
    await advanceClock(2 * dayMs);
  }
  expect(await suppressionOf(recipient)).toEqual([]);
  await bounceLate();
  expect(await suppressionOf(recipient)).toEqual([['system', 'all']]);
});

test('a full mailbox at hand-over is a soft bounce that may be sent again, and counts', async () => {
  const recipient = newRecipient();
  for (let count = 1; count <= 4; count += 1) await bounce(recipient);
  await advanceClock(8 * dayMs);
  const sink = await startSmtpSink({ mode: '552 at RCPT' });
  await useRelay(sink.url);
  const email = await acceptEmail(own, { recipient });
  await attempt(email.id);
  expect(await email.read()).toMatchObject({
    status: 'failed',
    reason: { category: 'soft_bounce', code: 'mailbox_full', retryable: true },
  });
  expect(await suppressionOf(recipient)).toEqual([['system', 'all']]);
});

test.each([
  ['is away', async () => `smtp://127.0.0.1:${await freePort()}`],
  ['refuses for now at MAIL FROM', async () => (await startSmtpSink({ mode: '421 at MAIL' })).url],
])('emails that our own relay did not take, as it %s, count against no address', async (_, relayUrl) => {
  const recipient = newRecipient();
  await useRelay(await relayUrl());
  const fail = async () => {
    const email = await acceptEmail(own, { recipient, kind: 'authentication' });
    await advanceClock(29.5 * 60_000);
    expect(await attempt(email.id)).toBe('done');
    const { status, reason } = await email.read();
    expect({ status, ...reason }).toMatchObject({
      status: 'failed',
      category: 'soft_bounce',
      code: expect.stringMatching(/^relay_/),
    });
  };
  for (let count = 1; count <= 4; count += 1) await fail();
  await advanceClock(8 * dayMs);
  await fail();
  // Such failures do not add a fifth bounce to the recipient's own four either.
  for (let count = 1; count <= 4; count += 1) await bounce(recipient);
  expect(await suppressionOf(recipient)).toEqual([]);
});
