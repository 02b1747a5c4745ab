import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { listConversations } from '../../../shared/db/conversations/conversations.ts';
import { listSmsOfPair } from '../../../shared/db/sms/of-conversations.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import type { Scope } from '../../../shared/schemas/scopes.ts';
import { scopes } from '../../../shared/schemas/scopes.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { copyRow } from '../../support/database/copied-rows.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

type Own = Awaited<ReturnType<typeof textingWorkspace>>;
let api: Client;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 3600 });
  api = await startApi();
});

const numberOf = (index: number) => `+4477009${`${index}`.padStart(5, '0')}`;
const ada = numberOf(100);

async function say(own: Own, from = ada, more: object = {}): Promise<any> {
  const path = `/v2/simulator/phones/${encodeURIComponent(from)}/messages`;
  const body = { content: 'Yes please', to: 'Acme', ...more };
  const answer = await api.request('POST', path, { key: own.key, body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

async function get(own: { key: string }, path: string): Promise<any> {
  const { status, body } = await api.request('GET', path, { key: own.key });
  return { status, ...body };
}

const conversations = async (own: { key: string }, search = '') =>
  (await get(own, `/v2/conversations${search && `?${search}`}`)).data;
const textsOf = async (own: Own, id: string, search = '') =>
  (await get(own, `/v2/sms?conversationId=${id}&${search}`)).data.map((text: any) => text.id);

test('a conversation begins with the first text that comes in, and has those that went out before', async () => {
  const own = await textingWorkspace();
  const first = await sendSms(api, own, { recipient: ada });
  await sendSms(api, own, { recipient: numberOf(101) });
  expect(await conversations(own)).toEqual([]);
  const reply = await say(own);
  const [conversation, ...others] = await conversations(own);
  expect(others).toEqual([]);
  expect(conversation).toEqual({
    id: expect.stringMatching(/^conversation_/),
    number: ada,
    sender: 'Acme',
    contact: null,
    lastMessage: reply,
    lastInboundAt: reply.createdAt,
    lastOutboundAt: first.createdAt,
    inboundCount: 1,
    outboundCount: 1,
    suppressed: false,
  });
  expect(await textsOf(own, conversation.id)).toEqual([reply.id, first.id]);

  const answer = await sendSms(api, own, { recipient: ada });
  const [later] = await conversations(own);
  expect(later).toEqual({
    ...conversation,
    lastMessage: answer,
    lastOutboundAt: answer.createdAt,
    outboundCount: 2,
  });
  expect(await textsOf(own, conversation.id)).toEqual([answer.id, reply.id, first.id]);
  expect(await textsOf(own, conversation.id, 'direction=outbound')).toEqual([answer.id, first.id]);
  expect(await textsOf(own, conversation.id, 'status=received')).toEqual([reply.id]);
});

test('each sender has a conversation of its own with a number, and a name is the same in whatever case', async () => {
  const own = await textingWorkspace();
  await senders.addApproved(own.workspaceId, 'Second');
  await senders.addApproved(own.workspaceId, '07407000008');
  for (const to of ['acme', 'ACME', 'Second', '07407 000008']) await say(own, ada, { to });
  const all = await conversations(own);
  expect(all.map((one: any) => [one.sender, one.inboundCount])).toEqual([
    ['+447407000008', 1],
    ['Second', 1],
    ['Acme', 2],
  ]);
  for (const [search, names] of [
    ['sender=second', ['Second']],
    ['sender=07407000008', ['+447407000008']],
    ['sender=Nobody', []],
    [`number=${encodeURIComponent(ada)}`, ['+447407000008', 'Second', 'Acme']],
    ['number=07700900100&sender=SECOND', ['Second']],
    ['number=07700900199', []],
    ['number=nobody', []],
  ] as const)
    expect([search, (await conversations(own, search)).map((one: any) => one.sender)]).toEqual([
      search,
      names,
    ]);
});

test('texts that went out under a name in other letters are of the same conversation', async () => {
  const own = await textingWorkspace();
  const { id } = await sendSms(api, own, { recipient: ada });
  await query("UPDATE sms_messages SET sender = 'ACME' WHERE id = ?", [idToBytes(id)]);
  const reply = await say(own);
  const [conversation] = await conversations(own);
  expect(conversation).toMatchObject({ sender: 'Acme', outboundCount: 1, inboundCount: 1 });
  expect(await textsOf(own, conversation.id)).toEqual([reply.id, id]);
});

test('the latest activity comes first, page by page, and since leaves out what rests', async () => {
  const own = await textingWorkspace();
  const numbers = Array.from({ length: 5 }, (_, index) => numberOf(200 + index));
  for (const number of numbers) await say(own, number);
  await sendSms(api, own, { recipient: numbers[0]! });
  const expected = [numbers[0], ...numbers.slice(1).toReversed()];
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await get(
      own,
      `/v2/conversations?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    seen.push(...page.data.map(({ number }: any) => number));
    cursor = page.nextCursor ?? '';
  } while (cursor);
  expect(seen).toEqual(expected);
  const all = await conversations(own);
  const since = all[1].lastMessage.createdAt;
  const recent = await conversations(own, `since=${since}`);
  expect(recent.map(({ number }: any) => number)).toEqual(expected.slice(0, 2));
});

test('conversations of the same moment come once each', async () => {
  const own = await textingWorkspace();
  for (let index = 0; index < 4; index += 1) await say(own, numberOf(300 + index));
  await query("UPDATE conversations SET last_activity_at = '2026-01-01' WHERE workspace_id = ?", [
    idToBytes(own.workspaceId),
  ]);
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await get(
      own,
      `/v2/conversations?limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    seen.push(...page.data.map(({ id }: any) => id));
    cursor = page.nextCursor ?? '';
  } while (cursor);
  expect(seen.length).toBe(4);
  expect(seen).toEqual([...new Set(seen)].toSorted().toReversed());
});

test('the contact is who has the number now, and STOP shows as suppressed', async () => {
  const own = await textingWorkspace();
  await say(own, ada, { content: 'Stop' });
  const contact = { number: ada, firstName: 'Ada', lastName: 'Lovelace', company: 'Engines' };
  const made = await api.request('POST', '/v2/contacts', { key: own.key, body: contact });
  const [conversation] = await conversations(own);
  expect(conversation).toMatchObject({
    suppressed: true,
    contact: { id: made.body.id, firstName: 'Ada', lastName: 'Lovelace', company: 'Engines' },
  });
  await api.request('DELETE', `/v2/contacts/${made.body.id}`, { key: own.key });
  await say(own, ada, { content: 'START' });
  const [after] = await conversations(own);
  expect(after).toMatchObject({ suppressed: false, contact: null, inboundCount: 2 });
});

test('it takes both scopes, and without content.read the text is covered', async () => {
  const own = await textingWorkspace();
  await say(own);
  const [{ id }] = await conversations(own);
  const keyWithout = async (scope: Scope) => {
    const { body } = await api.request('POST', '/v2/api-keys', {
      key: own.key,
      body: { scopes: scopes.filter((other) => other !== scope) },
    });
    return { ...own, key: body.key };
  };
  for (const scope of ['sms.read', 'recipients.read'] as const) {
    const refused = await get(await keyWithout(scope), '/v2/conversations');
    expect([refused.status, refused.detail]).toEqual([403, expect.stringContaining(scope)]);
  }
  const covered = await keyWithout('content.read');
  expect(await conversations(covered)).toMatchObject([{ id, lastMessage: { content: null, sender: ada } }]);
});

test('a conversation of another workspace is as one that nobody has', async () => {
  const [own, other] = [await textingWorkspace(), await textingWorkspace()];
  await sendSms(api, own, { recipient: ada });
  await say(other);
  const [theirs] = await conversations(other);
  expect(await conversations(own)).toEqual([]);
  expect(await get(own, `/v2/sms?conversationId=${theirs.id}`)).toMatchObject({
    status: 200,
    data: [],
    nextCursor: null,
  });
  expect(await conversations(await workspace())).toEqual([]);
});

test('a page costs the same among many conversations, and among many texts of other senders', async () => {
  const own = await textingWorkspace();
  await senders.addApproved(own.workspaceId, 'Second');
  const { id } = await sendSms(api, own, { recipient: ada });
  await say(own, ada, { to: 'Second' });
  const many = 12_000;
  await copyRow('sms_messages', idToBytes(id), many, { id: "UNHEX(CONCAT('0001', LPAD(HEX(n), 28, '0')))" });
  await say(own);
  const [row] = await query<{ id: Buffer }[]>(
    'SELECT id FROM conversations WHERE workspace_id = ? AND sender_key = ?',
    [idToBytes(own.workspaceId), Buffer.from('acme')],
  );
  await copyRow('conversations', row!['id'], many, {
    id: "UNHEX(CONCAT('0001', LPAD(HEX(n), 28, '0')))",
    number: "CONCAT('+4480', LPAD(n, 8, '0'))",
    last_activity_at: "TIMESTAMPADD(SECOND, n, '2026-01-01')",
  });
  await query('ANALYZE TABLE conversations, sms_messages');
  const page = { limit: 50, after: null };
  const middle = { limit: 50, after: { at: '2026-01-01T02:00:00.000Z', id: newId('conversation', now()) } };
  for (const [filter, place] of [
    [{}, page],
    [{}, middle],
    [{ sender: 'Acme' }, page],
    [{ sender: 'Acme' }, middle],
    [{ number: ada }, page],
  ] as const) {
    const list = () => listConversations(own.workspaceId, filter, place);
    expect([filter, await rowsRead(list)]).toEqual([filter, expect.toSatisfy((rows) => rows <= 105)]);
  }
  expect(await listConversations(own.workspaceId, {}, middle)).toHaveLength(50);
  const [{ id: conversationId }] = await conversations(own, 'sender=Second');
  expect(await textsOf(own, conversationId)).toHaveLength(1);
  // The only text of the pair is behind many of another sender. The query reads some windows of these, but not all.
  const pair = { number: ada, sender: 'Second' };
  const costOfPage = () =>
    rowsRead(() => listSmsOfPair(own.workspaceId, pair, [{}], { limit: 50, before: null }));
  const before = await costOfPage();
  await copyRow('sms_messages', idToBytes(id), 2 * many, {
    id: "UNHEX(CONCAT('0002', LPAD(HEX(n), 28, '0')))",
  });
  await query('ANALYZE TABLE sms_messages');
  expect(await costOfPage()).toBeLessThan(1.1 * before);
});
