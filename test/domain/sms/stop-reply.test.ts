import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { findConversationForUpdate } from '../../../shared/db/conversations/conversations.ts';
import { findSmsBalance } from '../../../shared/db/sms/balances.ts';
import { insertSms } from '../../../shared/db/sms/messages.ts';
import { deleteSuppression } from '../../../shared/db/suppressions.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { keep } from '../../../shared/domain/sms/gateways/gateways.ts';
import * as inbound from '../../../shared/domain/sms/gateways/inbound.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { postSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits } from '../../support/database/lock-wait.ts';
import { admin } from '../../support/processes/admin.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const person = '+447700900150';
const number = '+447407000099';
const stopReply = 'You get no more texts from us.';
const price = 345;
const hourMs = 3_600_000;

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0345,0.0412,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
  await workspaces.change(own.workspaceId, { stopReply });
});

const say = (content: string) =>
  api.request('POST', '/v2/simulator/phones/07700900150/messages', { key: own.key, body: { content } });
const replies = async () =>
  (await api.request('GET', '/v2/sms?direction=outbound', { key: own.key })).body.data;
const isSuppressed = async () =>
  (await api.request('GET', '/v2/suppressions', { key: own.key })).body.data.length > 0;

test('the answer to STOP goes out although the number is suppressed; nothing else does', async () => {
  const stop = (await say('Stop!')).body;
  const [reply, ...others] = await replies();
  expect(others).toEqual([]);
  expect(reply).toMatchObject({
    status: 'queued',
    sender: 'Acme',
    recipient: person,
    content: stopReply,
    parts: 1,
    cost: { gbp: '0.0345', eur: '0.0412' },
    inReplyTo: stop.id,
  });
  expect(await isSuppressed()).toBe(true);
  await attempt(reply.id);
  expect(await smsOf(own, reply.id)).toMatchObject({
    status: 'sent',
    eventTypes: ['sms.queued', 'sms.sent'],
  });
  expect((await postSms(api, own, { recipient: person })).body.type).toMatch(/recipient_suppressed$/);
  const [conversation] = (await api.request('GET', '/v2/conversations', { key: own.key })).body.data;
  expect(conversation).toMatchObject({ inboundCount: 1, outboundCount: 1, suppressed: true });
});

test('a number gets one answer in 24 hours, however often it says STOP, and however many at once', async () => {
  await Promise.all(Array.from({ length: 5 }, () => say('STOP')));
  expect(await replies()).toHaveLength(1);
  await say('START');
  await say('Stop');
  expect(await replies()).toHaveLength(1);
  await advanceClock(23 * hourMs);
  await say('STOP');
  expect(await replies()).toHaveLength(1);
  await advanceClock(2 * hourMs);
  await say('STOP');
  const [newest, ...older] = await replies();
  expect(older).toHaveLength(1);
  await attempt(newest.id);
  expect((await smsOf(own, newest.id)).status).toBe('sent');
});

test('it is charged; without the balance for it there is none, and a later STOP is answered', async () => {
  await balance.add(own.workspaceId, price - 1, null);
  await say('STOP');
  expect([await replies(), await isSuppressed()]).toEqual([[], true]);
  await balance.add(own.workspaceId, price, null);
  await say('STOP');
  expect(await replies()).toMatchObject([{ status: 'queued' }]);
  expect(await balance.find(own.workspaceId)).toBe(price - 1);
  const { body } = await api.request('GET', '/v2/workspace/spend', { key: own.key });
  expect(body.ledger).toMatchObject({ charges: { gbp: '-0.0345' } });
});

/**
 * Has the person say STOP while another transaction has done its `first` work, and lets that one do the `second` once
 * STOP waits for it. Returns how often the two were tried: more than once after a deadlock.
 */
async function stopAmid(first: () => Promise<unknown>, second: () => Promise<unknown>) {
  const text = { from: person, to: 'Acme', content: 'STOP' };
  await inbound.expect(own.workspaceId, text);
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const tries = { other: 0, stop: 0 };
  const other = transaction(async () => {
    tries.other += 1;
    await first();
    held.resolve();
    await over.promise;
    await second();
  });
  await held.promise;
  const stop = transaction(async () => {
    tries.stop += 1;
    await inbound.receive(own.workspaceId, text);
  });
  const waits = await watchLockWaits();
  try {
    await waitFor('STOP waits', async () => (await waits.look()).length > 0);
  } finally {
    over.resolve();
    await Promise.all([other, stop, waits.close()]);
  }
  return tries;
}
const conversation = async () =>
  (await api.request('GET', '/v2/conversations', { key: own.key })).body.data[0];

test('the answer takes the balance before the conversation, as every text that goes out does', async () => {
  await balance.add(own.workspaceId, 10 * price, null);
  await say('Hello');
  const { id } = await conversation();
  const tries = await stopAmid(
    () => findSmsBalance(own.workspaceId, 'FOR UPDATE'),
    () => findConversationForUpdate(own.workspaceId, id),
  );
  expect(tries).toEqual({ other: 1, stop: 1 });
  expect(await conversation()).toMatchObject({ inboundCount: 2, outboundCount: 1 });
});

test('a first text that says STOP waits for the texts that it counts before its answer takes the balance', async () => {
  await balance.add(own.workspaceId, 10 * price, null);
  const { id: sentId } = (await postSms(api, own, { recipient: '+447700900151' })).body;
  const sent = await smsOf(own, sentId);
  const tries = await stopAmid(
    () => insertSms(own.workspaceId, { ...sent, id: newId('sms', now()), recipient: person }),
    () => findSmsBalance(own.workspaceId, 'FOR UPDATE'),
  );
  expect(tries).toEqual({ other: 1, stop: 1 });
  const [reply] = await replies();
  expect(await conversation()).toMatchObject({
    inboundCount: 1,
    outboundCount: 2,
    lastMessage: { id: reply.id },
  });
});

test.each(['api', 'stop'])(
  'a STOP that comes while the customer deletes the suppression of source %s suppresses the number',
  async (source) => {
    if (source === 'stop') await say('STOP');
    else await api.request('POST', '/v2/suppressions', { key: own.key, body: { number: person } });
    const [before] = (await api.request('GET', '/v2/suppressions', { key: own.key })).body.data;
    expect(before.source).toBe(source);
    await stopAmid(
      () => deleteSuppression(own.workspaceId, before.id),
      async () => undefined,
    );
    const { data } = (await api.request('GET', '/v2/suppressions', { key: own.key })).body;
    expect(data).toMatchObject([{ number: person, source: 'stop' }]);
  },
);

test('what ends between STOP and its answer leaves neither of them; then both come once', async () => {
  const text = { from: person, to: 'Acme', content: 'STOP' };
  await inbound.expect(own.workspaceId, text);
  const killed = transaction(async () => {
    await inbound.receive(own.workspaceId, text);
    throw new Error('killed');
  });
  await expect(killed).rejects.toThrow('killed');
  expect([await replies(), await isSuppressed()]).toEqual([[], false]);
  await transaction(() => inbound.receive(own.workspaceId, text));
  expect([(await replies()).length, await isSuppressed()]).toEqual([1, true]);
});

test('words of the workspace mean STOP and START as the known ones do', async () => {
  const set = await admin(
    'workspace',
    'set',
    own.workspaceId,
    '--stop-words',
    'arrêt, dés-abo',
    '--start-words',
    'Oui',
    '--stop-reply',
    'Plus de messages. OUI pour en recevoir.',
  );
  expect(set.printed).toMatchObject({
    stopReply: 'Plus de messages. OUI pour en recevoir.',
    stopWords: 'ARRÊT,DÉSABO',
    startWords: 'OUI',
  });
  await say('arrêtez');
  expect([await isSuppressed(), await replies()]).toEqual([false, []]);
  await say('Arrêt.');
  expect(await replies()).toMatchObject([{ content: 'Plus de messages. OUI pour en recevoir.' }]);
  expect(await isSuppressed()).toBe(true);
  await say('oui');
  expect(await isSuppressed()).toBe(false);
  await say('UNSUBSCRIBE');
  expect(await isSuppressed()).toBe(true);
  const none = await admin('workspace', 'set', own.workspaceId, '--stop-words=none', '--stop-reply=none');
  expect(none.printed).toMatchObject({ stopReply: null, stopWords: null, startWords: 'OUI' });
});

test.each(['ＳＴＯＰ', '𝐬𝐭𝐨𝐩', 'ARRE\u0302T', 'arre\u0302t !', 'arr\u00EAt'])(
  'a word is known in each form that Unicode has for it: %s',
  async (text) => {
    await workspaces.change(own.workspaceId, { stopWords: ['ARR\u00CAT'] });
    await say(text);
    expect(await isSuppressed()).toBe(true);
  },
);

test('words stored as they were written still mean STOP', async () => {
  await query('UPDATE workspaces SET stop_words = ? WHERE id = ?', [
    'ＴＥＩＳＨＩ',
    idToBytes(own.workspaceId),
  ]);
  await say('ｔｅｉｓｈｉ');
  expect(await isSuppressed()).toBe(true);
});

/** Twenty words of forty letters, each of two bytes. */
const manyBytes = Array.from('абвгдежзиклмнопрстуф', (letter) => letter.repeat(40)).join();

test.each([
  [['--stop-words', 'START'], 'START, which means START'],
  [['--start-words', 'Quit'], 'QUIT, which means STOP'],
  [['--stop-words', 'JA', '--start-words', 'ja'], 'JA, which means START'],
  [['--stop-words', '!!'], 'a word that is not of 1 to 40 letters and digits'],
  [['--stop-words', 'X'.repeat(41)], 'a word that is not of 1 to 40 letters and digits'],
  [['--start-words', manyBytes], 'words of more than 1000 bytes in all'],
  [['--stop-reply', ' '], 'has no text to send'],
  [['--stop-reply', 'x'.repeat(1_600)], 'takes 11 parts'],
])('%j is refused, and nothing is changed', async (options, message) => {
  const { code, printed } = await admin('workspace', 'set', own.workspaceId, '--sending', 'off', ...options);
  expect(code).not.toBe(0);
  expect(JSON.stringify(printed)).toContain(message);
  expect(await workspaces.find(own.workspaceId)).toMatchObject({
    stopReply,
    stopWords: [],
    startWords: [],
    sendingBlocked: false,
  });
});

test('nobody is answered who cannot be written to, nor by a workspace that may not send', async () => {
  const { id } = await senders.addNumber(own.workspaceId, ['GB']);
  await senders.assignNumber(id, number);
  const part = { gateway: 'carrier', recipient: number, content: 'STOP', place: null };
  // The senders: a number of a country where our sender is not approved, one of no country, a short code, and a name.
  for (const sender of ['+33612345678', '+883510000000', '60300', 'Bank'])
    await keep({ ...part, sender }, async () => true);
  expect(await replies()).toEqual([]);
  await workspaces.change(own.workspaceId, { sendingBlocked: true });
  await keep({ ...part, sender: person }, async () => true);
  expect([await replies(), await isSuppressed()]).toEqual([[], true]);
  await workspaces.change(own.workspaceId, { sendingBlocked: false });
  await keep({ ...part, sender: person }, async () => true);
  expect(await replies()).toMatchObject([{ sender: number, recipient: person }]);
});

test('without an answer of the workspace there is none', async () => {
  await workspaces.change(own.workspaceId, { stopReply: null });
  await say('STOP');
  expect([await replies(), await isSuppressed()]).toEqual([[], true]);
  const rows = await query('SELECT * FROM sms_stop_replies WHERE workspace_id = ?', [
    idToBytes(own.workspaceId),
  ]);
  expect(rows).toEqual([]);
});
