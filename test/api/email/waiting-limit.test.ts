import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { findWaiting } from '../../../shared/db/work/waiting-counts.ts';
import * as emailDelivery from '../../../shared/domain/email/delivery/delivery.ts';
import * as systemMail from '../../../shared/domain/operations/system-mail.ts';
import { systemWorkspaceId } from '../../../shared/domain/workspace/workspaces.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail, postEmail, postLargeEmail } from '../../support/data/new-email.ts';
import { postSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { countOf } from '../../support/database/counts.ts';
import { useDatabase } from '../../support/database/database.ts';
import { countedRows } from '../../support/database/waiting.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';

useDatabase();

let api: Client;
let sink: SmtpSink;
beforeAll(async () => {
  api = await startApi();
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
});
beforeEach(() => changeSettings({ MAX_STORED_MB: 2_000, MAX_WAITING_ROWS: 5_000_000 }));

const scheduledAt = () => new Date(Date.now() + 24 * 3_600_000).toISOString();
const attachment = (bytes: number) => ({
  filename: 'a.txt',
  contentType: 'text/plain',
  content: Buffer.alloc(bytes, 'x').toString('base64'),
});
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
const statusesOf = (answers: Answer[]) =>
  Object.fromEntries(
    Map.groupBy(answers, ({ status }) => status)
      .entries()
      .map(([status, all]) => [status, all.length]),
  );

// Shows A51, A65
test('of large emails that come at once as many are taken as have room, and the rest is told what is used', async () => {
  changeSettings({ MAX_STORED_MB: 10 });
  const own = await workspace();
  const text = 'A text';
  const bytes = 1_500_000;
  const post = () =>
    postLargeEmail(api, own, {
      scheduledAt: scheduledAt(),
      content: { text },
      attachments: [attachment(bytes)],
    });
  const answers = await Promise.all(times(12, post));
  expect(statusesOf(answers)).toEqual({ 201: 6, 409: 6 });
  const used = 6 * (bytes + text.length);
  expect(await findWaiting(own.workspaceId)).toEqual({ messages: 6, bytes: used });
  for (const { status, body } of answers)
    if (status === 409)
      expect(body).toMatchObject({
        type: `${api.url}/problems/limit_exceeded`,
        detail:
          'A workspace may have 10 MB of messages that wait to be sent; this one has 9 MB, and this request has 1.5 MB. Wait until some are sent.',
      });
  // A smaller message still has room, and another workspace has its whole limit.
  expect((await postEmail(api, own)).status).toBe(201);
  const other = await workspace();
  expect((await postEmail(api, other, { attachments: [attachment(bytes)] })).status).toBe(201);
  // Refused emails leave no attachments behind.
  const [rows] = await query('SELECT COUNT(*) AS attachments FROM email_attachments');
  expect(Number(rows!['attachments'])).toBe(7);
});

// Shows A51, A65
test('of messages that come at once, emails and texts, as many are taken as may wait', async () => {
  changeSettings({ MAX_WAITING_ROWS: 20 });
  const own = await textingWorkspace();
  const refused = await countOf('waiting_refused{limit="messages"}');
  const answers = await Promise.all(
    times(60, (index) =>
      index % 3 === 0
        ? postSms(api, own, { scheduledAt: scheduledAt() })
        : postEmail(api, own, { scheduledAt: scheduledAt() }),
    ),
  );
  expect(statusesOf(answers)).toEqual({ 201: 20, 409: 40 });
  expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({
    type: `${api.url}/problems/limit_exceeded`,
    detail:
      'A workspace may have 20 messages that wait to be sent; this one has 20. Wait until some are sent.',
  });
  expect(await countOf('waiting_refused{limit="messages"}')).toBe(refused + 40);
  expect((await findWaiting(own.workspaceId)).messages).toBe(20);
  expect(await findWaiting(own.workspaceId)).toEqual(await countedRows(own.workspaceId));
});

test('what is cancelled makes room at once', async () => {
  changeSettings({ MAX_WAITING_ROWS: 1 });
  const own = await textingWorkspace();
  for (let turn = 0; turn < 3; turn += 1) {
    const email = await postEmail(api, own, { scheduledAt: scheduledAt() });
    expect([email.status, (await postEmail(api, own)).status]).toEqual([201, 409]);
    await api.request('DELETE', `/v2/email/${email.body.id}`, { key: own.key });
    const text = await postSms(api, own, { scheduledAt: scheduledAt() });
    expect([text.status, (await postEmail(api, own)).status]).toEqual([201, 409]);
    await api.request('DELETE', `/v2/sms/${text.body.id}`, { key: own.key });
  }
  expect(await findWaiting(own.workspaceId)).toEqual({ messages: 0, bytes: 0 });
});

test('what is handed over or fails waits no more; what is to be tried again waits on', async () => {
  const own = await workspace();
  const sent = await acceptEmail(own, { attachments: [attachment(1_000)] });
  const failed = await acceptEmail(own, { recipient: 'gone@example.com' });
  const later = await acceptEmail(own);
  await api.request('POST', '/v2/suppressions', { key: own.key, body: { email: 'gone@example.com' } });
  const waiting = () => findWaiting(own.workspaceId);
  expect(await waiting()).toEqual({ messages: 3, bytes: 1_000 + 3 * 'A text'.length });
  await emailDelivery.attempt(sent.id);
  expect(await waiting()).toEqual({ messages: 2, bytes: 2 * 'A text'.length });
  await emailDelivery.attempt(failed.id);
  sink.setMode('450 at RCPT');
  await emailDelivery.attempt(later.id);
  sink.setMode('accept');
  expect((await later.read()).status).toBe('queued');
  expect(await waiting()).toEqual({ messages: 1, bytes: 'A text'.length });
  expect(await waiting()).toEqual(await countedRows(own.workspaceId));
});

test('a request that was accepted is answered again where the workspace is full by now', async () => {
  changeSettings({ MAX_WAITING_ROWS: 1 });
  const own = await workspace();
  const post = (key: string) =>
    api.request('POST', '/v2/email', {
      key: own.key,
      body: newEmail(own, { subject: key }),
      headers: { 'Idempotency-Key': key },
    });
  const first = await post('one');
  expect(first.status).toBe(201);
  expect((await post('two')).status).toBe(409);
  expect((await post('one')).body).toEqual(first.body);
  // The Idempotency-Key of a refused request is free.
  await emailDelivery.attempt(first.body.id);
  expect((await post('two')).status).toBe(201);
});

test('a large email that names an Idempotency-Key is accepted once', async () => {
  const own = await workspace();
  const [html, text] = ['<p>a</p>'.repeat(90_000), 'text '.repeat(90_000)];
  const post = () =>
    api.request('POST', '/v2/email', {
      key: own.key,
      body: newEmail(own, { html, text }),
      headers: { 'Idempotency-Key': 'large' },
    });
  const first = await post();
  expect(first.status).toBe(201);
  expect((await post()).body).toEqual(first.body);
});

test('0 is no limit, and the mail of the platform itself has none', async () => {
  changeSettings({ MAX_WAITING_ROWS: 1, SYSTEM_SENDER: 'Platform <hello@platform.example>' });
  await systemMail.prepare();
  for (const subject of ['One', 'Two', 'Three'])
    await systemMail.send('ops@example.com', { subject, text: 'Something happened.' });
  expect((await findWaiting(systemWorkspaceId)).messages).toBe(3);
  changeSettings({ MAX_WAITING_ROWS: 0, MAX_STORED_MB: 0 });
  const own = await workspace();
  expect(statusesOf(await Promise.all(times(5, () => postEmail(api, own))))).toEqual({ 201: 5 });
});
