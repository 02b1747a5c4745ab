import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { gatewayList } from '../../shared/config/sms-gateways.ts';
import { query } from '../../shared/db/client.ts';
import * as senders from '../../shared/domain/senders/senders.ts';
import { attempt } from '../../shared/domain/sms/delivery/delivery.ts';
import { closeGateways, submit } from '../../shared/transports/sms.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../support/data/new-sms.ts';
import { useDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import {
  type Answer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/servers/webhook-receiver.ts';
import { folder, serve } from './run-program.ts';

useDatabase();

const secret = 'a-secret-of-enough-characters';
const account = 'AC0123456789abcdef0123456789abcdef';
const token = 'token-of-the-account';
const recipient = '+447407000001';
const number = '+447407000099';

let twilio: WebhookReceiver;
let adapterUrl: string;
let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  twilio = await startWebhookReceiver();
  const port = await freePort();
  adapterUrl = `http://127.0.0.1:${port}`;
  await serve(
    { language: 'Node', command: process.execPath, program: 'twilio-adapter.mjs' },
    {
      GATEWAY_NAME: 'twilio',
      GATEWAY_SECRET: secret,
      PLATFORM_URL: api.url,
      OWN_URL: adapterUrl,
      PORT: String(port),
      TWILIO_URL: twilio.url,
      TWILIO_ACCOUNT_SID: account,
      TWILIO_AUTH_TOKEN: token,
    },
  );
  const list = [{ name: 'twilio', type: 'http', url: `${adapterUrl}/send`, secret }];
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
  atEnd(closeGateways);
  own = await textingWorkspace();
  const { id } = await senders.addNumber(own.workspaceId, ['GB']);
  await senders.assignNumber(id, number);
});

const created = (sid: string): Answer => ({ status: 201, body: JSON.stringify({ sid, status: 'queued' }) });
const refused = (status: number, code: number): Answer => ({
  status,
  body: JSON.stringify({ code, message: 'Twilio says why', more_info: 'https://…', status }),
});
let sid = '';
let made = 0;
beforeEach(async () => {
  // Closing makes the gateway forget that it was told to wait.
  await closeGateways();
  made += 1;
  sid = `SM${String(made).padStart(32, '0')}`;
  twilio.respondWith(created(sid));
});

/** Posts Twilio's callback: a form whose signature covers the address with its query and all fields sorted by name. */
async function callBack(path: string, fields: Record<string, string>, key = token): Promise<number> {
  const url = adapterUrl + path;
  const names = Object.keys(fields).toSorted();
  const signed = createHmac('sha1', key).update(url + names.map((name) => name + fields[name]).join(''));
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'x-twilio-signature': signed.digest('base64') },
    body: new URLSearchParams(fields),
  });
  return response.status;
}
const status = (MessageStatus: string, more = {}) =>
  callBack('/twilio/status', { MessageSid: sid, SmsSid: sid, AccountSid: account, MessageStatus, ...more });

async function sentText(content = 'Hi'): Promise<string> {
  const { id } = await sendSms(api, own, { recipient, content });
  await attempt(id);
  return id;
}
const statusOf = async (id: string) => (await smsOf(own, id)).status;

test('the adapter has less than 80 lines', () => {
  expect(readFileSync(join(folder, 'twilio-adapter.mjs'), 'utf8').split('\n').length).toBeLessThanOrEqual(80);
});

test('a text goes out as Twilio documents it, and its callbacks bring it to delivered', async () => {
  const id = await sentText('Grüße & 😀');
  expect(await smsOf(own, id)).toMatchObject({ status: 'sent', gateway: 'twilio', gatewayReference: sid });
  const request = twilio.requests.at(-1)!;
  expect(request).toMatchObject({
    method: 'POST',
    url: `/2010-04-01/Accounts/${account}/Messages.json`,
    headers: {
      authorization: `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}`,
      'content-type': expect.stringContaining('application/x-www-form-urlencoded'),
    },
  });
  expect(Object.fromEntries(new URLSearchParams(request.body.toString()))).toEqual({
    To: recipient,
    From: 'Acme',
    Body: 'Grüße & 😀',
    StatusCallback: `${adapterUrl}/twilio/status#rc=5&rp=all`,
  });
  for (const one of ['queued', 'sent']) expect(await status(one)).toBe(204);
  expect(await statusOf(id)).toBe('sent');
  for (const _ of [1, 2]) expect(await status('delivered')).toBe(204);
  expect((await smsOf(own, id)).eventTypes).toEqual(['sms.queued', 'sms.sent', 'sms.delivered']);
});

test('a text that could not be delivered has the error of Twilio as its reason', async () => {
  const id = await sentText();
  expect(await status('undelivered', { ErrorCode: '30003' })).toBe(204);
  expect(await smsOf(own, id)).toMatchObject({
    status: 'failed',
    reason: { category: 'undeliverable', code: '30003' },
  });
});

test.each<[string, Answer, object]>([
  ['a number that is none', refused(400, 21211), { kind: 'refused', code: '21211' }],
  ['too many', refused(429, 20429), { kind: 'later' }],
  ['a fault of Twilio', refused(500, 20500), { kind: 'unavailable' }],
  ['no answer', { fault: 'reset' }, { kind: 'unavailable' }],
])('%s is what the platform learns', async (_name, answer, outcome) => {
  twilio.respondWith(answer);
  const text = { id: `sms_x${made}`, workspaceId: 'w', sender: 'Acme', recipient, content: 'Hi', parts: 1 };
  expect(await submit(text)).toMatchObject(outcome);
});

test('a text that is posted again is not sent twice', async () => {
  const before = twilio.requests.length;
  const text = { id: `sms_x${made}`, workspaceId: 'w', sender: 'Acme', recipient, content: 'Hi', parts: 1 };
  for (const _ of [1, 2]) expect(await submit(text)).toEqual({ kind: 'accepted', reference: sid });
  expect(twilio.requests).toHaveLength(before + 1);
});

test('a reply comes in once; what somebody else posts is refused', async () => {
  await query("DELETE FROM sms_messages WHERE direction = 'inbound'");
  const reply = { MessageSid: sid, AccountSid: account, From: recipient, To: number, Body: 'Yes, please 😀' };
  for (const _ of [1, 2]) expect(await callBack('/twilio/inbound', reply)).toBe(204);
  expect(await callBack('/twilio/inbound', { ...reply, MessageSid: 'SMx' }, 'another token')).toBe(403);
  const unsigned = await fetch(`${adapterUrl}/send`, { method: 'POST', body: '{}' });
  expect(unsigned.status).toBe(401);
  const received = await query("SELECT content FROM sms_messages WHERE direction = 'inbound'");
  expect(received).toEqual([{ content: 'Yes, please 😀' }]);
});

test('Twilio is to come again where the platform cannot take a callback', async () => {
  const id = await sentText();
  await query('RENAME TABLE sms_messages TO sms_messages_away');
  expect(await status('delivered')).toBe(502);
  await query('RENAME TABLE sms_messages_away TO sms_messages');
  expect(await statusOf(id)).toBe('sent');
  expect(await status('delivered')).toBe(204);
  expect(await statusOf(id)).toBe('delivered');
});
