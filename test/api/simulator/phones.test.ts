import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { idToBytes, newUuid } from '../../../shared/formats/ids.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits } from '../../support/database/lock-wait.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

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

test('a text answers the last one to its phone for 30 days', async () => {
  const from = await textingWorkspace();
  const { id } = await sendSms(api, from, { recipient: '+447700900101' });
  await attempt(id);
  const minuteMs = 60_000;
  await advanceClock(30 * 86_400_000 - 5 * minuteMs);
  expect((await text(from, '07700 900101', { content: 'In time' })).body.inReplyTo).toBe(id);
  await advanceClock(10 * minuteMs);
  expect((await text(from, '07700 900101', { content: 'Late' })).body.inReplyTo).toBe(null);
});

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

test('however many phones there are, clearing them leaves none', async () => {
  const from = await textingWorkspace();
  await text(from, '+447700900210', { content: 'Hi' });
  const [workspaceId, at] = [idToBytes(from.workspaceId), now()];
  const further = Array.from({ length: 1_000 }, (_, index) => [
    newUuid(at),
    workspaceId,
    Buffer.from(`+4479110${String(index).padStart(5, '0')}`),
    at,
  ]);
  await query('INSERT INTO simulator_phones (id, workspace_id, number, created_at) VALUES ?', [further]);
  expect((await api.request('DELETE', '/v2/simulator/phones', { key: from.key })).status).toBe(204);
  expect((await phones(from)).data).toEqual([]);
});

test('a text that comes while the phones are cleared goes with its phone, or stays with it', async () => {
  const from = await textingWorkspace();
  const [first, other] = ['+447700900211', '+447700900212'];
  for (const number of [first, other]) await text(from, number, { content: 'Hi' });
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = transaction(async () => {
    await query('SELECT * FROM simulator_phones WHERE workspace_id = ? AND number = ? FOR UPDATE', [
      idToBytes(from.workspaceId),
      Buffer.from(first),
    ]);
    held.resolve();
    await over.promise;
  });
  await held.promise;
  const waits = await watchLockWaits();
  const clearing = api.request('DELETE', '/v2/simulator/phones', { key: from.key });
  try {
    await waitFor('the clearing waits', async () => (await waits.look()).length > 0);
    let isAnswered = false;
    const answering = text(from, other, { content: 'Still there?' }).finally(() => (isAnswered = true));
    await waitFor('the text is in, or waits too', async () => isAnswered || (await waits.look()).length > 1);
    over.resolve();
    await Promise.all([holding, clearing, answering]);
  } finally {
    over.resolve();
    await waits.close();
  }
  const texts = await query(
    `SELECT p.id AS phone FROM simulator_messages m
     LEFT JOIN simulator_phones p ON p.workspace_id = m.workspace_id AND p.number = m.number WHERE m.workspace_id = ?`,
    [idToBytes(from.workspaceId)],
  );
  expect(texts.filter(({ phone }) => phone === null)).toEqual([]);
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
