import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { insertGatewayPost } from '../../../shared/db/sms/gateway-posts.system.ts';
import * as retention from '../../../shared/domain/operations/retention.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { closeGateways } from '../../../shared/transports/sms.ts';
import { nowSeconds, type SignatureOptions, signRequest } from '../../support/api/sign-request.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { newSms, sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { countOf } from '../../support/database/counts.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import {
  type Respond,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const secret = 'a-secret-of-enough-characters';
const recipient = '+447407000001';
const number = '+447407000099';

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let carrier: WebhookReceiver;
const taking: Respond = ({ body }) => ({
  body: JSON.stringify({ reference: `ref-${JSON.parse(body.toString()).id}` }),
});
beforeAll(async () => {
  carrier = await startWebhookReceiver({ respond: taking });
  const list = ['carrier', 'other'].map((name) => ({ name, type: 'http', url: carrier.url, secret }));
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
  atEnd(closeGateways);
  api = await startApi();
  own = await textingWorkspace();
  const { id } = await senders.addNumber(own.workspaceId, ['GB']);
  await senders.assignNumber(id, number);
});

type Posted = { options?: SignatureOptions; key?: string; name?: string; door?: string; keyId?: string };

/** Posts a body as the gateway does, with no code of the side that reads it. */
async function post(body: object | string, { door = 'receipts', name = 'carrier', ...more }: Posted = {}) {
  const url = `${api.url}/gateways/${name}/${door}`;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const signer = { keyId: more.keyId ?? name, algorithm: 'hmac_sha256', secret: more.key ?? secret } as const;
  const headers = signRequest({ method: 'POST', url, body: text }, signer, more.options);
  const response = await fetch(url, { method: 'POST', headers, body: text });
  const answer = await response.text();
  return { status: response.status, body: answer === '' ? null : JSON.parse(answer) };
}

const receipt = (smsId: string, changes: object = {}) => ({
  id: randomUUID(),
  reference: `ref-${smsId}`,
  part: null,
  status: 'delivered',
  errorCode: null,
  at: '2026-11-24T10:00:00Z',
  ...changes,
});
const inbound = (changes: object = {}) => ({
  id: randomUUID(),
  sender: recipient,
  recipient: number,
  content: 'Hello',
  receivedAt: '2026-11-24T10:00:00Z',
  ...changes,
});
async function sentText(content = 'Hi'): Promise<string> {
  const { id } = await sendSms(api, own, { recipient, content });
  await attempt(id);
  expect(await smsOf(own, id)).toMatchObject({ status: 'sent', gateway: 'carrier' });
  return id;
}
const statusOf = async (id: string) => (await smsOf(own, id)).status;
const inboundTexts = async () => {
  const rows = await query("SELECT content FROM sms_messages WHERE direction = 'inbound' ORDER BY id");
  return rows.map((row) => row.content);
};

test('a text goes out, and its receipt comes back, once', async () => {
  const id = await sentText('Grüße');
  const said = receipt(id);
  expect((await post(said)).status).toBe(204);
  expect((await post(said)).status).toBe(204);
  expect(await smsOf(own, id)).toMatchObject({
    status: 'delivered',
    eventTypes: ['sms.queued', 'sms.sent', 'sms.delivered'],
  });
});

test('a receipt that is posted again says nothing of a newer text with the same reference', async () => {
  const [older, newer] = [await sentText(), await sentText()];
  const said = receipt(older);
  expect((await post(said)).status).toBe(204);
  await query('UPDATE sms_messages SET gateway_reference = ? WHERE id = ?', [
    said.reference,
    idToBytes(newer),
  ]);
  expect((await post(said)).status).toBe(204);
  expect(await Promise.all([older, newer].map(statusOf))).toEqual(['delivered', 'sent']);
});

test.each([
  [
    { status: 'failed', errorCode: '30003' },
    { category: 'undeliverable', code: '30003', retryable: false },
  ],
  [{ status: 'failed' }, { category: 'undeliverable', code: 'undeliverable', retryable: false }],
  [{ status: 'expired' }, { category: 'expired', code: 'expired', retryable: true }],
])('a receipt %j says why it failed', async (changes, reason) => {
  const id = await sentText();
  expect((await post(receipt(id, changes))).status).toBe(204);
  expect(await smsOf(own, id)).toMatchObject({ status: 'failed', reason });
});

test('receipts may be of the parts of a text, or of all of it; a text of one part may be counted as one', async () => {
  const content = 'x'.repeat(400);
  const [byParts, whole, failed, single] = [
    await sentText(content),
    await sentText(content),
    await sentText(content),
    await sentText(),
  ];
  for (const part of [3, 1, 1]) expect((await post(receipt(byParts, { part }))).status).toBe(204);
  expect(await statusOf(byParts)).toBe('sent');
  await post(receipt(byParts, { part: 2 }));
  await post(receipt(whole));
  await post(receipt(failed, { part: 1 }));
  await post(receipt(failed, { part: 2, status: 'failed' }));
  await post(receipt(single, { part: 1 }));
  const statuses = await Promise.all([byParts, whole, failed, single].map(statusOf));
  expect(statuses).toEqual(['delivered', 'delivered', 'failed', 'delivered']);
});

test('receipts that come before the answer is on disk wait for it', async () => {
  const [whole, parts, single] = [
    await sendSms(api, own, { recipient, content: 'x'.repeat(400) }),
    await sendSms(api, own, { recipient, content: 'x'.repeat(200) }),
    await sendSms(api, own, { recipient }),
  ];
  await post(receipt(whole.id, { status: 'expired' }));
  for (const part of [1, 2]) await post(receipt(parts.id, { part }));
  await post(receipt(single.id, { part: 1 }));
  for (const { id } of [whole, parts, single]) await attempt(id);
  await recovery.sweep();
  expect(await Promise.all([whole, parts, single].map(({ id }) => statusOf(id)))).toEqual([
    'failed',
    'delivered',
    'delivered',
  ]);
});

test('a receipt of nobody’s text is taken, counted, and changes nothing', async () => {
  const unknown = 'sms_gateway_receipts{gateway="carrier",outcome="unknown"}';
  const before = await countOf(unknown);
  expect((await post(receipt('nobody'))).status).toBe(204);
  expect(await countOf(unknown)).toBe(before + 1);
});

test('a text of a person is received once, whatever it says; the same words under another id are another', async () => {
  await query('DELETE FROM sms_messages WHERE direction = ?', ['inbound']);
  const said = inbound({ sender: recipient.slice(1), content: 'Grüße 😀\0' });
  for (const one of [said, said, inbound(), inbound({ id: said.id, content: 'Not looked at' })])
    expect((await post(one, { door: 'messages' })).status).toBe(204);
  // An id is unique within one gateway only, and receipts have ids of their own.
  await post(inbound({ id: said.id, content: 'Of the other' }), { door: 'messages', name: 'other' });
  expect(await inboundTexts()).toEqual(['Grüße 😀\0', 'Hello', 'Of the other']);
  // The recipient is a number that no workspace has.
  const strange = inbound({ recipient: '+447407000098' });
  expect((await post(strange, { door: 'messages' })).status).toBe(204);
  expect(await inboundTexts()).toHaveLength(3);
});

test('many posts of one id at a time are one', async () => {
  await query('DELETE FROM sms_messages WHERE direction = ?', ['inbound']);
  const said = inbound({ content: 'Once' });
  const answers = await Promise.all(Array.from({ length: 12 }, () => post(said, { door: 'messages' })));
  expect(answers.every(({ status }) => status === 204)).toBe(true);
  expect(await inboundTexts()).toEqual(['Once']);
});

test('a gateway whose posts are held up by the database does not hold up another', async () => {
  const said = inbound({ content: 'Held' });
  const [isHeld, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = transaction(async () => {
    await insertGatewayPost({ gateway: 'carrier', kind: 'text', id: said.id }, now());
    isHeld.resolve();
    await goOn.promise;
  });
  await isHeld.promise;
  const held = Array.from({ length: 2 * config.MYSQL_POOL_SIZE }, () => post(said, { door: 'messages' }));
  const others = Array.from({ length: 5 }, () => post(inbound(), { door: 'messages', name: 'other' }));
  expect(await Promise.all(others)).toMatchObject(others.map(() => ({ status: 204 })));
  goOn.resolve();
  await holder;
  // On a slow machine some have waited for longer than a post may wait, and come again.
  for (const { status } of await Promise.all(held)) expect([204, 503]).toContain(status);
  expect((await post(said, { door: 'messages' })).status).toBe(204);
});

test.each<[string, Posted, string]>([
  ['another secret', { key: 'another-secret-of-enough-length' }, 'signature_invalid'],
  ['the name of another gateway', { keyId: 'other' }, 'signature_invalid'],
  ['too old', { options: { parameters: { created: nowSeconds() - 400 } } }, 'signature_invalid'],
  ['no time', { options: { parameters: { created: null } } }, 'signature_invalid'],
  ['another body', { options: { values: { 'content-digest': 'sha-256=:AAAA:' } } }, 'signature_invalid'],
  ['less than all', { options: { covered: ['@method', '@path'] } }, 'signature_invalid'],
])('a signature with %s is refused, and nothing changes', async (_name, posted, code) => {
  const id = await sentText();
  const answer = await post(receipt(id), posted);
  expect(answer).toMatchObject({ status: 401, body: { type: `${api.url}/problems/${code}` } });
  expect(await statusOf(id)).toBe('sent');
});

test('unsigned is 401; a gateway that is none, or not of this type, is 404; another method 405', async () => {
  const ask = (path: string, method = 'POST') =>
    fetch(`${api.url}/gateways/${path}`, { method, ...(method === 'POST' && { body: '{}' }) });
  const unsigned = await ask('carrier/receipts');
  expect([unsigned.status, ((await unsigned.json()) as any).type]).toEqual([
    401,
    `${api.url}/problems/signature_required`,
  ]);
  expect((await ask('nobody/receipts')).status).toBe(404);
  expect((await ask('carrier/receipts', 'GET')).status).toBe(405);
  expect((await post(`{"id":"${'x'.repeat(70_000)}"}`)).status).toBe(413);
  expect((await post('{"id":')).body.type).toBe(`${api.url}/problems/malformed_json`);
});

test.each<[string, object, Record<string, string[]>]>([
  [
    'receipts',
    { reference: 'two words', part: 0, status: 'lost', errorCode: 7, at: 'today' },
    {
      id: ['is required'],
      reference: ['must be 1 to 60 visible ASCII characters'],
      part: ['must be at least 1'],
      status: ['must be one of failed, expired, delivered'],
      errorCode: ['must be a string'],
      at: ['must be a date and time with an offset, as in RFC 3339'],
    },
  ],
  [
    'messages',
    { id: '', sender: null, recipient: 'x\u0007y', content: 1 },
    {
      id: ['must not be empty'],
      sender: ['must not be null'],
      recipient: ['must not contain control characters'],
      content: ['must be a string'],
    },
  ],
])('a body at %s that cannot be read says which fields are wrong', async (door, body, errors) => {
  expect(await post(body, { door })).toMatchObject({ status: 400, body: { errors } });
});

test('what is posted a second time is known for 7 days', async () => {
  await post(inbound({ content: 'Days' }), { door: 'messages' });
  await retention.purge();
  const left = async () => (await query('SELECT COUNT(*) AS n FROM sms_gateway_posts'))[0]!.n;
  expect(await left()).toBeGreaterThan(0);
  await advanceClock(7 * 86_400_000 + 60_000);
  await retention.purge();
  expect(await left()).toBe(0);
});

test('an answer that is lost costs one more post of the same id at most, to the same gateway', async () => {
  const before = carrier.requests.length;
  const { id } = (await api.request('POST', '/v2/sms', { key: own.key, body: newSms({ recipient }) })).body;
  carrier.respondWith({ fault: 'reset' });
  await attempt(id);
  expect(await smsOf(own, id)).toMatchObject({ status: 'queued', uncertainCount: 1, gateway: 'carrier' });
  carrier.respondWith(taking);
  await advanceClock(120_000);
  await waitFor('it is sent', async () => {
    await attempt(id);
    return (await statusOf(id)) === 'sent';
  });
  const posts = carrier.requests.slice(before).map(({ body }) => JSON.parse(body.toString()).id);
  expect(posts).toEqual([id, id]);
});
