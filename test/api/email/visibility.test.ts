import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import * as emailDelivery from '../../../shared/domain/email/delivery/delivery.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { type Scope, scopes } from '../../../shared/schemas/scopes.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { postEmail, sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  const sink = await startSmtpSink({ mode: '550 naming the address' });
  changeSettings({ SMTP_URL: sink.url });
  api = await startApi();
  own = await workspace();
});

const without = async (...hidden: Scope[]) =>
  (await apiKeys.issue(own.workspaceId, { scopes: scopes.filter((scope) => !hidden.includes(scope)) })).key;

/** Sends an email with this key, and returns it as the answer and every other operation show it to the key. */
async function everywhere(key: string): Promise<any[]> {
  const changes = { subject: 'Secret subject', content: { text: 'Secret text' } };
  const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
  const sent = (await postEmail(api, own, { ...changes, scheduledAt }, key)).body;
  const read = async (path: string) => (await api.request('GET', path, { key })).body;
  const one = await read(`/v2/email/${sent.id}`);
  const listed = (await read('/v2/email')).data[0];
  const [queued] = (await read(`/v2/email/${sent.id}/events`)).data;
  await relay.relayAll();
  const feed = (await read('/v2/events?limit=1000')).data;
  const cancelled = (await api.request('DELETE', `/v2/email/${sent.id}`, { key })).body;
  const inFeed = feed.find(({ data }: any) => data.id === sent.id);
  const shown = [sent, one, listed, queued.data, inFeed.data, cancelled];
  for (const record of shown) expect(record.id).toBe(sent.id);
  return shown;
}

test('with all scopes recipient, subject and content are shown everywhere', async () => {
  for (const record of await everywhere(own.key))
    expect(record).toMatchObject({
      recipient: 'ada@example.com',
      subject: 'Secret subject',
      content: { html: null, text: 'Secret text' },
    });
});

test('without recipients.read the recipient is null everywhere', async () => {
  for (const record of await everywhere(await without('recipients.read'))) {
    expect(record.recipient).toBeNull();
    expect(record).toMatchObject({ subject: 'Secret subject', content: { text: 'Secret text' } });
  }
});

test('without content.read the subject is null and content is absent, everywhere', async () => {
  for (const record of await everywhere(await without('content.read'))) {
    expect(record.subject).toBeNull();
    expect(record).not.toHaveProperty('content');
    expect(record.recipient).toBe('ada@example.com');
    expect(JSON.stringify(record)).not.toContain('Secret');
  }
});

test('without both nothing of either is shown, everywhere', async () => {
  for (const record of await everywhere(await without('recipients.read', 'content.read'))) {
    expect(record).toMatchObject({ recipient: null, subject: null });
    expect(record).not.toHaveProperty('content');
    expect(JSON.stringify(record)).not.toMatch(/Secret|ada@/);
  }
});

test('a refusal that repeats the address does not show it without recipients.read', async () => {
  const { id } = await sendEmail(api, own, { recipient: 'gone@example.com' });
  await emailDelivery.attempt(id);
  const blind = await without('recipients.read');
  const read = async (key: string) => (await api.request('GET', `/v2/email/${id}`, { key })).body;
  expect((await read(own.key)).reason).toStrictEqual({
    category: 'hard_bounce',
    code: 'mailbox_unknown',
    description: '550 5.1.1 <gone@example.com>: no such mailbox',
    retryable: false,
  });
  expect((await read(blind)).reason).toStrictEqual({
    category: 'hard_bounce',
    code: 'mailbox_unknown',
    description: null,
    retryable: false,
  });
  const events = await api.request('GET', `/v2/email/${id}/events`, { key: blind });
  expect(events.body.data).toHaveLength(2);
  expect(JSON.stringify(events.body)).not.toContain('gone@');
});
