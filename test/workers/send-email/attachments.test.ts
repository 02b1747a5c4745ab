import { randomBytes, randomUUID } from 'node:crypto';
import { dkimVerify } from 'mailauth';
import PostalMime from 'postal-mime';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { takeCounts } from '../../../shared/common/metrics.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { chunkBytes } from '../../../shared/db/email/attachments.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import { judge } from '../../../shared/domain/email/delivery/judge.ts';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import * as email from '../../../shared/domain/email/email.ts';
import * as retention from '../../../shared/domain/operations/retention.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { NewEmail } from '../../../shared/schemas/email/email.ts';
import { acceptEmail, callerOf } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { withoutWaiting } from '../../support/database/lock-wait.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  own = await workspace();
});
beforeEach(() => sink.setMode('accept'));

const attached = (...files: Buffer[]) => ({
  recipient: `${randomUUID()}@example.com`,
  attachments: files.map((bytes, index) => ({
    filename: `file ${index}.pdf`,
    contentType: 'application/pdf',
    content: bytes.toString('base64'),
  })),
});
async function rowsOf({ id }: { id: string }): Promise<number> {
  const bytes = idToBytes(id);
  const [row] = await query<{ n: number }[]>(
    `SELECT (SELECT COUNT(*) FROM email_attachments WHERE email_id = ?)
      + (SELECT COUNT(*) FROM email_attachment_chunks WHERE email_id = ?) AS n`,
    [bytes, bytes],
  );
  return row!.n;
}
const messagesTo = (recipient: string) =>
  sink.messages.filter(({ envelope }) => envelope.to.includes(recipient));
const hour = () => new Date(now().getTime() + 3_600_000).toISOString();

test('a receiver gets every attachment whole and in order, signed, and nothing of them is kept', async () => {
  const files = [0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes + 5].map((size) =>
    randomBytes(size),
  );
  const request = attached(...files);
  const accepted = await acceptEmail(own, request);
  expect(await rowsOf(accepted)).toBe(files.length + 9);
  expect(await attempt(accepted.id)).toBe('done');
  const [message] = messagesTo(request.recipient);
  const { attachments } = await PostalMime.parse(message!.raw);
  expect(attachments.map(({ filename }) => filename)).toEqual(
    request.attachments.map(({ filename }) => filename),
  );
  for (const [index, { content }] of attachments.entries())
    expect(files[index]!.equals(Buffer.from(content as ArrayBuffer))).toBe(true);
  const domain = (await emailDomains.findByName(own.workspaceId, own.domain))!;
  const { results } = await dkimVerify(message!.raw, {
    curTime: now(),
    resolver: async () => [[domain.dkimPublicKey]],
  });
  expect(results.map(({ status }) => status.result)).toEqual(['pass']);
  expect(await rowsOf(accepted)).toBe(0);
});

test('a second attempt sends the same bytes', async () => {
  const request = attached(randomBytes(chunkBytes + 100));
  const accepted = await acceptEmail(own, request);
  sink.setMode('451 after the dot');
  expect(await attempt(accepted.id)).toEqual({ retryAt: expect.any(Date) });
  expect(await rowsOf(accepted)).toBe(3);
  sink.setMode('accept');
  await advanceClockTo((await accepted.read()).dueAt!);
  expect(await attempt(accepted.id)).toBe('done');
  const [first, second] = messagesTo(request.recipient);
  expect(first!.raw.equals(second!.raw)).toBe(true);
});

test('attachments are gone when their email has failed, and when it is cancelled', async () => {
  const refused = await acceptEmail(own, attached(randomBytes(100)));
  sink.setMode('550 at RCPT');
  expect(await attempt(refused.id)).toBe('done');
  expect((await refused.read()).status).toBe('failed');
  expect(await rowsOf(refused)).toBe(0);

  const other = await acceptEmail(own, attached(randomBytes(100)));
  const cancelled = await acceptEmail(own, { ...attached(randomBytes(100)), scheduledAt: hour() }, {});
  await transaction(() => email.cancel(callerOf(own), cancelled.id));
  expect(await rowsOf(cancelled)).toBe(0);
  expect(await rowsOf(other)).toBe(2);
});

test.each([
  [
    'a chunk of one',
    'DELETE FROM email_attachment_chunks WHERE email_id = ? AND position = 1 AND number = 1',
  ],
  [
    'a part of a chunk',
    "UPDATE email_attachment_chunks SET bytes = 'x' WHERE email_id = ? AND position = 1 AND number = 1",
  ],
  ['one of them', 'DELETE FROM email_attachments WHERE email_id = ? AND position = 0'],
])('an email that has lost %s fails, and nothing of it goes out', async (_name, lose) => {
  const request = attached(randomBytes(10), randomBytes(chunkBytes + 10));
  const accepted = await acceptEmail(own, request);
  await query(lose, [idToBytes(accepted.id)]);
  expect(await attempt(accepted.id)).toBe('done');
  expect(await accepted.read()).toMatchObject({
    status: 'failed',
    reason: { category: 'failed', code: 'internal_error', retryable: true },
  });
  expect(messagesTo(request.recipient)).toEqual([]);
});

// Shows F35
test('an email whose message could not be read to its end is tried again, and the relay is not blamed', async () => {
  const record = await (await acceptEmail(own, attached(randomBytes(9)))).read();
  const faults = () => takeCounts().filter(([name]) => name.startsWith('smtp_faults'));
  faults();
  const { email: after } = judge(record, { kind: 'unread', detail: 'the database went away' });
  expect(after).toMatchObject({ status: 'queued', retries: 1, uncertainCount: 0 });
  expect(after.dueAt!.getTime()).toBeGreaterThan(now().getTime());
  expect([after.status !== 'queued', faults()]).toEqual([false, []]);
});

test('what a worker that died left behind is deleted, what is still wanted is not', async () => {
  const [left, waiting] = [
    await acceptEmail(own, attached(randomBytes(9))),
    await acceptEmail(own, attached(randomBytes(9))),
  ];
  await query('DELETE FROM email_bodies WHERE email_id = ?', [idToBytes(left.id)]);
  await retention.purge();
  expect([await rowsOf(left), await rowsOf(waiting)]).toEqual([0, 2]);
});

test('deleting attachments does not wait for a request that is storing others', async () => {
  const accepted = await acceptEmail(own, attached(randomBytes(10)));
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const prepared = await email.prepare(
    callerOf(own),
    NewEmail.parse(newEmail(own, attached(randomBytes(10)))),
  );
  const request = transaction(async () => {
    await email.send(callerOf(own), prepared);
    write();
    await over;
  });
  await written;
  try {
    expect(await withoutWaiting(() => attempt(accepted.id))).toBe('done');
    expect(await rowsOf(accepted)).toBe(0);
  } finally {
    end();
    await request;
  }
});
