import { beforeAll, expect, test } from 'vitest';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';

useDatabase();

type Own = Awaited<ReturnType<typeof textingWorkspace>>;
let api: Client;
let own: Own;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 3600 });
  api = await startApi();
  own = await textingWorkspace();
});

const text = (from: Own, number: string, body: object) =>
  api.request('POST', `/v2/simulator/phones/${encodeURIComponent(number)}/messages`, { key: from.key, body });
const phones = async (from: Own, query = '') =>
  (await api.request('GET', `/v2/simulator/phones${query}`, { key: from.key })).body;
const suppressionsOf = async (from: Own) =>
  (await api.request('GET', '/v2/suppressions', { key: from.key })).body.data.map(
    ({ number, source }: any) => [number, source],
  );

test('a phone shows what was sent to it and what it sent, oldest first', async () => {
  const from = await textingWorkspace();
  const { id } = await sendSms(api, from, { recipient: '+447700900100', content: 'Grüße 🙂' });
  await attempt(id);
  const answer = await text(from, '07700 900100', { content: 'Danke' });
  expect(answer.status).toBe(201);
  expect(answer.headers['location']).toBe(`${api.url}/v2/sms/${answer.body.id}`);
  expect(answer.body).toMatchObject({
    direction: 'inbound',
    status: 'received',
    sender: '+447700900100',
    recipient: 'Acme',
    inReplyTo: id,
    country: 'GB',
    cost: { gbp: null, eur: null },
  });
  const { data, nextCursor } = await phones(from);
  expect([data, nextCursor]).toEqual([
    [
      {
        id: expect.stringMatching(/^phone_/),
        number: '+447700900100',
        messages: [
          expect.objectContaining({ from: 'Acme', to: '+447700900100', content: 'Grüße 🙂' }),
          expect.objectContaining({ from: '+447700900100', to: 'Acme', content: 'Danke' }),
        ],
        createdAt: expect.any(String),
      },
    ],
    null,
  ]);
});

test('the phones of a workspace are its own, and clearing them leaves those of others', async () => {
  const [one, other] = [await textingWorkspace(), await textingWorkspace()];
  for (const from of [one, other])
    for (const last of ['1', '2', '3']) await text(from, `0770090020${last}`, { content: 'Hi' });
  const first = await phones(one, '?limit=2');
  const second = await phones(one, `?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`);
  const numbers = [...first.data, ...second.data].map(({ number }: { number: string }) => number);
  expect(numbers).toEqual(['+447700900203', '+447700900202', '+447700900201']);
  const cleared = await api.request('DELETE', '/v2/simulator/phones', { key: one.key });
  expect(cleared.status).toBe(204);
  expect((await phones(one)).data).toEqual([]);
  expect((await phones(other)).data).toHaveLength(3);
});

test('a text goes to the sender that is named, else to the last one, else to the default', async () => {
  const from = await textingWorkspace();
  await senders.addApproved(from.workspaceId, 'Second');
  await senders.addApproved(from.workspaceId, '07407000008');
  const to = async (body: object) => (await text(from, '+447700900300', body)).body.recipient;
  expect(await to({ content: 'Hi' })).toBe('Acme');
  expect(await to({ content: 'Hi', to: 'second' })).toBe('Second');
  expect(await to({ content: 'Hi', to: '07407 000008' })).toBe('+447407000008');
  const { id } = await sendSms(api, from, { recipient: '+447700900300', sender: 'Second' });
  await attempt(id);
  expect(await to({ content: 'Hi' })).toBe('Second');
  const unknown = await text(from, '+447700900300', { content: 'Hi', to: 'Nobody' });
  expect([unknown.status, Object.keys(unknown.body.errors)]).toEqual([400, ['to']]);
  const bare = await text(await workspace(), '+447700900300', { content: 'Hi' });
  expect([bare.status, Object.keys(bare.body.errors)]).toEqual([400, ['to']]);
});

test('only the simulator’s own numbers are its phones while another gateway carries messages', async () => {
  const gateway = useTextGateway();
  const real = await text(own, '+447407000001', { content: 'Hi' });
  const nobodys = await text(own, '+447700900400', { content: 'Hi' });
  gateway.stop();
  expect([real.status, codeOf(real.body), nobodys.status]).toEqual([404, 'not_found', 201]);
  for (const number of ['nobody', '123', '+44770090040099'])
    expect((await text(own, number, { content: 'Hi' })).status).toBe(404);
});

test.each([
  'STOP',
  'stop',
  ' Stop\n',
  'STOP!',
  '"Stop."',
  'S.T.O.P',
  'Stop all',
  'STOPALL',
  'UNSUBSCRIBE',
  'CANCEL',
  'END',
  'QUIT',
])('%j suppresses the number, and is a text like any other', async (content) => {
  const from = await textingWorkspace();
  const { body } = await text(from, '+447700900500', { content });
  expect(body).toMatchObject({ status: 'received', content });
  expect(await suppressionsOf(from)).toEqual([['+447700900500', 'stop']]);
});

test.each(['Please stop', 'STOP it', 'Stop, all of you', 'YES', 'START'])(
  '%j suppresses nothing',
  async (content) => {
    const from = await textingWorkspace();
    await text(from, '+447700900500', { content });
    expect(await suppressionsOf(from)).toEqual([]);
  },
);

test.each(['START', 'unstop'])('%j lifts what STOP did, and nothing else', async (content) => {
  const from = await textingWorkspace();
  await text(from, '+447700900501', { content: 'STOP' });
  const api2 = await api.request('POST', '/v2/suppressions', {
    key: from.key,
    body: { number: '+447700900502' },
  });
  expect(api2.status).toBe(201);
  for (const last of ['1', '2']) await text(from, `+44770090050${last}`, { content });
  expect(await suppressionsOf(from)).toEqual([['+447700900502', 'api']]);
});

test('STOP takes the place of an api entry, so that START lifts it', async () => {
  const from = await textingWorkspace();
  const number = '+447700900503';
  await api.request('POST', '/v2/suppressions', { key: from.key, body: { number } });
  await text(from, number, { content: 'stop all' });
  expect(await suppressionsOf(from)).toEqual([[number, 'stop']]);
  await text(from, number, { content: 'START' });
  expect(await suppressionsOf(from)).toEqual([]);
});
