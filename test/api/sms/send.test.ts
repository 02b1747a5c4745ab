import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { transaction } from '../../../shared/db/client.ts';
import * as suppressions from '../../../shared/domain/suppressions.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { postSms, sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});

const inHours = (hours: number) => new Date(now().getTime() + hours * 3_600_000).toISOString();
const tenLinks = Array.from({ length: 10 }, (_, index) => `http://a.example/${index}`).join(' ');
const refusals = async (changes: Record<string, unknown>) => {
  const { status, body } = await postSms(api, own, changes);
  expect([status, codeOf(body)]).toEqual([400, 'validation_failed']);
  return body.errors;
};

test('a text is accepted with what it will be sent as', async () => {
  const { status, body, headers } = await postSms(api, own, {
    recipient: '07700 900 123',
    content: 'Grüße 🙂',
    clientReference: 'order 7',
    clientTag: 'Spring Sale!',
  });
  expect(status).toBe(201);
  expect(headers['location']).toBe(`${api.url}/v2/sms/${body.id}`);
  expect(body).toStrictEqual({
    id: expect.stringMatching(/^sms_/),
    direction: 'outbound',
    status: 'queued',
    sender: 'Acme',
    recipient: '+447700900123',
    content: 'Grüße 🙂',
    country: 'GB',
    parts: 1,
    encoding: 'ucs2',
    cost: { gbp: null, eur: null },
    clientReference: 'order 7',
    clientTag: 'spring-sale-',
    batchId: null,
    contactId: null,
    templateName: null,
    inReplyTo: null,
    createdAt: expect.any(String),
    scheduledAt: null,
    sentAt: null,
    deliveredAt: null,
    updatedAt: body.createdAt,
  });
  const read = await api.request('GET', `/v2/sms/${body.id}`, { key: own.key });
  expect(read.body).toStrictEqual(body);
  const { eventTypes } = await smsOf(own, body.id);
  expect(eventTypes).toEqual(['sms.queued']);
});

test('a contact with the number is named', async () => {
  const number = '+447700900222';
  const contact = await api.request('POST', '/v2/contacts', { key: own.key, body: { number } });
  expect(await sendSms(api, own, { recipient: number })).toMatchObject({ contactId: contact.body.id });
});

test.each<[string, Record<string, unknown>, string[]]>([
  ['no number', { recipient: 'nobody' }, ['recipient']],
  ['no content', { content: undefined }, ['content']],
  ['content and template', { template: { name: 'x' } }, ['content']],
  ['an unknown template', { content: undefined, template: { name: 'x' } }, ['template.name']],
  ['a template without a name', { content: undefined, template: {} }, ['template.name']],
  ['more than ten parts', { content: 'x'.repeat(1531) }, ['content']],
  ['characters outside the alphabet', { content: 'Привет', unicode: 'deny' }, ['content']],
  ['a sender of nobody', { sender: 'Nobody' }, ['sender']],
  ['a country that the sender is not for', { recipient: '+33612345678' }, ['sender']],
  ['more than ten links', { shortenLinks: true, content: tenLinks + ' http://a.example/11' }, ['content']],
  ['a link with a user in it', { shortenLinks: true, content: 'http://me@a.example/' }, ['content']],
  ['a time that is too near', { scheduledAt: inHours(0.05) }, ['scheduledAt']],
  ['a time that is too far', { scheduledAt: inHours(24 * 100) }, ['scheduledAt']],
  [
    'several at once',
    { content: '', sender: 'Nobody', scheduledAt: inHours(0) },
    ['content', 'sender', 'scheduledAt'],
  ],
  ['several rules at once', { sender: 'Nobody', scheduledAt: inHours(0) }, ['sender', 'scheduledAt']],
])('%s is refused by its field', async (_name, changes, fields) => {
  expect(Object.keys(await refusals(changes)).toSorted()).toEqual(fields.toSorted());
});

test('ten parts of a message are the most, unless the operator says otherwise', async () => {
  expect(await sendSms(api, own, { content: 'x'.repeat(1530) })).toMatchObject({ parts: 10 });
  changeSettings({ SMS_MAX_PARTS: 1 });
  expect(await refusals({ content: 'x'.repeat(161) })).toEqual({ content: [expect.any(String)] });
  changeSettings({ SMS_MAX_PARTS: 10 });
});

test('what is outside the alphabet is replaced where that is asked for', async () => {
  const sent = await sendSms(api, own, { content: '“Ça va…” 🙂', unicode: 'strip' });
  expect(sent).toMatchObject({ encoding: 'gsm7', parts: 1 });
  expect(sent.content).toContain('"');
});

test('a stored template is rendered with the data, unescaped', async () => {
  await api.request('POST', '/v2/templates', {
    key: own.key,
    body: { name: 'Reminder', content: 'Dear {{ name }}, see you on {{ day | default: "Monday" }}.' },
  });
  const template = { name: 'Reminder', data: { name: 'Ada & Co' } };
  expect(await sendSms(api, own, { content: undefined, template })).toMatchObject({
    content: 'Dear Ada & Co, see you on Monday.',
    templateName: 'Reminder',
  });
  const tooLong = { name: 'Reminder', data: { name: 'x'.repeat(2000) } };
  expect(Object.keys(await refusals({ content: undefined, template: tooLong }))).toEqual(['template.data']);
});

test('content is sent as it is: it is no Liquid', async () => {
  expect(await sendSms(api, own, { content: '{{ name }}' })).toMatchObject({ content: '{{ name }}' });
});

test('without a sender the default of the workspace sends; without one it is refused', async () => {
  expect(await sendSms(api, own)).toMatchObject({ sender: 'Acme' });
  const bare = await workspace();
  const { status, body } = await postSms(api, bare);
  expect([status, Object.keys(body.errors)]).toEqual([400, ['sender']]);
});

test('a suppressed number is refused with 422, and nothing is stored', async () => {
  const number = '+447700900300';
  await transaction(() => suppressions.add(own.workspaceId, { number, email: null }, 'api', null));
  const { status, body } = await postSms(api, own, { recipient: number });
  expect([status, codeOf(body)]).toEqual([422, 'recipient_suppressed']);
  const { body: list } = await api.request('GET', `/v2/sms?recipient=${encodeURIComponent(number)}`, {
    key: own.key,
  });
  expect(list.data).toEqual([]);
});

test('while the operator has blocked the workspace it is 403', async () => {
  const blocked = await textingWorkspace();
  await workspaces.change(blocked.workspaceId, { sendingBlocked: true });
  const refusal = await waitFor('the block is known', async () => {
    const answer = await postSms(api, blocked);
    return answer.status === 403 && answer;
  });
  expect(codeOf(refusal.body)).toBe('sending_blocked');
});

test('the same request with the same Idempotency-Key is one message', async () => {
  const post = () =>
    api.request('POST', '/v2/sms', {
      key: own.key,
      body: { recipient: '+447700900124', content: 'Once' },
      headers: { 'Idempotency-Key': 'sms-once' },
    });
  const [first, second] = [await post(), await post()];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toStrictEqual(first.body);
});
