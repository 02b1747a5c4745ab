import { beforeAll, expect, test } from 'vitest';
import { insertContacts } from '../../../shared/db/contacts/contacts.ts';
import { addApproved } from '../../../shared/domain/senders/add-approved.ts';
import { addNumber, assignNumber } from '../../../shared/domain/senders/virtual-numbers.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { contactRecord } from '../../support/data/contact-record.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let contactId: string;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  await addApproved(own.workspaceId, 'Acme');
  contactId = (await post('/v2/contacts', { number: '07700 900111' })).body.id;
});

const post = (path: string, body: object) => api.request('POST', path, { key: own.key, body });
const patch = (path: string, body: object) => api.request('PATCH', path, { key: own.key, body });
const get = (path: string) => api.request('GET', path, { key: own.key });

// A German number without its code, a mobile that lacks a digit, a French number without its code.
const invalid = ['030 123456', '07700 90099', '06 12 34 56 79'];
const message = 'is not a valid phone number';
const content = 'Hello';

const places: Record<string, (number: string) => [request: ReturnType<typeof post>, field: string]> = {
  'a new contact': (number) => [post('/v2/contacts', { number }), 'number'],
  'the new number of a contact': (number) => [patch(`/v2/contacts/${contactId}`, { number }), 'number'],
  'a text': (recipient) => [post('/v2/sms', { sender: 'Acme', recipient, content }), 'recipient'],
  'a preview': (recipient) => [post('/v2/sms/preview', { recipient, content }), 'recipient'],
  'a suppression': (number) => [post('/v2/suppressions', { number }), 'number'],
  'the suppressions of a number': (number) => [get(`/v2/suppressions?number=${number}`), 'number'],
  'the texts to a number': (number) => [get(`/v2/sms?recipient=${number}`), 'recipient'],
  'the texts from a number': (number) => [get(`/v2/sms?sender=${number}`), 'sender'],
  'the conversation with a number': (number) => [get(`/v2/conversations?number=${number}`), 'number'],
};

test.each(Object.keys(places).flatMap((place) => invalid.map((number) => [place, number] as const)))(
  '%s does not take %s',
  async (place, number) => {
    const [request, field] = places[place]!(number);
    const { status, body } = await request;
    expect([status, body.errors]).toEqual([400, { [field]: [message] }]);
  },
);

test('rows of contacts and of a batch of texts are refused one by one', async () => {
  const contacts = await post('/v2/contacts/batch', {
    contacts: [...invalid, '07700 900112'].map((number) => ({ number })),
  });
  expect(contacts.body).toMatchObject({
    created: 1,
    errors: invalid.map((_, index) => ({ index, error: `number ${message}` })),
  });
  const batch = await post('/v2/sms/batches', {
    sender: 'Acme',
    content,
    messages: [...invalid, '07700 900113'].map((recipient) => ({ recipient })),
  });
  expect([batch.status, batch.body.counts.total, batch.body.errors]).toEqual([
    201,
    1,
    invalid.map((_, index) => ({ index, error: `recipient ${message}` })),
  ]);
});

test('a mobile of a range that nobody has can be no sender, and is texted no code', async () => {
  const body = { name: '07700 212345', sampleContent: 'Your parcel arrives today.' };
  const { status, body: answer } = await post('/v2/senders', body);
  expect([status, Object.keys(answer.errors)]).toEqual([400, ['name']]);
  const check = await get('/v2/senders/check?name=07700 212345');
  expect(check.body).toMatchObject({ acceptable: false, kind: null });
});

test('a webhook is not limited to such a number, and no virtual number is one', async () => {
  const url = 'https://example.com/hooks';
  const webhook = await post('/v2/webhooks', {
    url,
    events: ['sms.received'],
    inboundNumber: '+44030123456',
  });
  expect([webhook.status, webhook.body.errors]).toEqual([400, { inboundNumber: [message] }]);
  const { id } = await addNumber(own.workspaceId);
  await expect(assignNumber(id, '07700 90099')).rejects.toMatchObject({
    options: { errors: { number: [message] } },
  });
});

test('a webhook is not limited to a number in another form than that of the texts', async () => {
  const body = { url: 'https://example.com/replies', events: ['sms.received'] };
  const zero = { inboundNumber: '+4407700900123' };
  const { body: made } = await post('/v2/webhooks', body);
  const answers = await Promise.all([
    post('/v2/webhooks', { ...body, ...zero }),
    patch(`/v2/webhooks/${made.id}`, zero),
  ]);
  const errors = { inboundNumber: ['must be in E.164 format: +447700900123'] };
  expect(answers.map((answer) => [answer.status, answer.body.errors])).toEqual([
    [400, errors],
    [400, errors],
  ]);
});

test('the simulator has no phone with such a number', async () => {
  const { status } = await post('/v2/simulator/phones/0770090099/messages', { content });
  expect(status).toBe(404);
});

test('a contact that is older than the rule is shown, found, changed and erased', async () => {
  const old = contactRecord(1, { number: '+44030123456', national: '030123456' });
  await insertContacts(own.workspaceId, [old]);
  expect((await get(`/v2/contacts/${old.id}`)).body).toMatchObject({ number: '+44030123456' });
  expect((await get('/v2/contacts?search=030123456')).body.data).toMatchObject([{ id: old.id }]);
  const { status, body } = await patch(`/v2/contacts/${old.id}`, {
    number: '+44030123456',
    firstName: 'Ada',
  });
  expect([status, body]).toMatchObject([200, { number: '+44030123456', firstName: 'Ada' }]);
  expect((await get('/v2/suppressions?number=%2B44030123456')).body.data).toEqual([]);
  expect((await get('/v2/sms?recipient=%2B44030123456')).body.data).toEqual([]);
  expect((await api.request('DELETE', `/v2/contacts/${old.id}`, { key: own.key })).status).toBe(204);
});
