import { dkimVerify } from 'mailauth';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import { makeSystem, systemWorkspaceId } from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { linksTo } from '../../support/data/test-recipients.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';

useDatabase();

const testSender = 'try@platform.example';
let api: Client;
let sink: SmtpSink;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url, SYSTEM_SENDER: 'hello@platform.example' });
  own = await workspace();
});
beforeEach(() => changeSettings({ TEST_SENDER: testSender }));

let count = 0;
async function newRecipient({ confirms = true, from = own } = {}) {
  const email = `Friend-${(count += 1)}@example.com`;
  const { body } = await api.request('POST', '/v2/email/test-recipients', { key: from.key, body: { email } });
  const [link] = await linksTo(email);
  if (confirms) await api.request('POST', link!);
  return { id: body.id as string, email };
}
const send = (changes: Record<string, unknown>, key = own.key) =>
  api.request('POST', '/v2/email', { key, body: newEmail({ sender: testSender }, changes) });
const fieldsOf = ({ status, body }: { status: number; body: any }) => [
  status,
  Object.keys(body.errors ?? {}),
];

test('the test sender reaches a verified test recipient of any workspace', async () => {
  const { email } = await newRecipient();
  for (const recipient of [email, email.toLowerCase()])
    for (const sender of [testSender, `Shop <${testSender.toUpperCase()}>`]) {
      const { status, body } = await send({ recipient, sender });
      expect([status, body.sender]).toEqual([201, sender]);
    }
});

test('it reaches nobody else', async () => {
  const other = await workspace();
  const unconfirmed = await newRecipient({ confirms: false });
  const theirs = await newRecipient({ from: other });
  const removed = await newRecipient();
  await api.request('DELETE', `/v2/email/test-recipients/${removed.id}`, { key: own.key });
  for (const recipient of ['anybody@example.com', unconfirmed.email, theirs.email, removed.email])
    expect(fieldsOf(await send({ recipient }))).toEqual([400, ['recipient']]);
});

test('it does not schedule', async () => {
  const { email } = await newRecipient();
  const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
  expect(fieldsOf(await send({ recipient: email, scheduledAt }))).toEqual([400, ['scheduledAt']]);
  expect(fieldsOf(await send({ recipient: 'anybody@example.com', scheduledAt }))).toEqual([
    400,
    ['scheduledAt', 'recipient'],
  ]);
});

test('other addresses of its domain need the domain, and without the setting so does it', async () => {
  const { email } = await newRecipient();
  expect(fieldsOf(await send({ recipient: email, sender: 'other@platform.example' }))).toEqual([
    400,
    ['sender'],
  ]);
  changeSettings({ TEST_SENDER: undefined });
  expect(fieldsOf(await send({ recipient: email }))).toEqual([400, ['sender']]);
});

test('it stays restricted in a workspace that has its domain', async () => {
  changeSettings({ TEST_SENDER: own.sender });
  const { email } = await newRecipient();
  expect(fieldsOf(await send({ recipient: 'anybody@example.com', sender: own.sender }))).toEqual([
    400,
    ['recipient'],
  ]);
  expect((await send({ recipient: email, sender: own.sender })).status).toBe(201);
});

test('a recipient that is none any more when the email is due is not reached', async () => {
  const { id, email } = await newRecipient();
  const accepted = await acceptEmail(own, { sender: testSender, recipient: email });
  await api.request('DELETE', `/v2/email/test-recipients/${id}`, { key: own.key });
  expect(await attempt(accepted.id)).toBe('done');
  expect(await accepted.read()).toMatchObject({
    status: 'failed',
    reason: { category: 'rejected', code: 'test_recipient_not_verified', retryable: true },
  });
  expect(sink.messages.some(({ envelope }) => envelope.to.includes(email))).toBe(false);
});

test('its mail is signed once the platform’s own workspace has its domain', async () => {
  const deliver = async () => {
    const { email } = await newRecipient();
    const accepted = await acceptEmail(own, { sender: testSender, recipient: email });
    expect(await attempt(accepted.id)).toBe('done');
    expect((await accepted.read()).status).toBe('sent');
    return sink.messages.find(({ envelope }) => envelope.to.includes(email))!.raw;
  };
  expect((await deliver()).toString()).not.toContain('DKIM-Signature');
  await makeSystem();
  const domain = await emailDomains.addVerified(systemWorkspaceId, 'platform.example');
  // The platform remembers for a moment that there was no domain.
  await query('SELECT SLEEP(0.6)');
  const { results } = await dkimVerify(await deliver(), {
    curTime: now(),
    resolver: async () => [[domain.dkimPublicKey]],
  });
  expect(results).toMatchObject([{ signingDomain: 'platform.example', status: { result: 'pass' } }]);
  await query('DELETE FROM email_domains WHERE workspace_id = ?', [idToBytes(systemWorkspaceId)]);
});
