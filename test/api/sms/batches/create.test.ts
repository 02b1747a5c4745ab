import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { query } from '../../../../shared/db/client.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { batchOf, messagesTo, newBatch, postBatch, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { copyRow, idOfCopy } from '../../../support/database/copied-rows.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 3600 });
  api = await startApi();
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const messagesOf = async (id: string) =>
  (await api.request('GET', `/v2/sms?batchId=${id}&limit=200`, { key: own.key })).body.data;
const inHours = (hours: number) => new Date(now().getTime() + hours * 3_600_000).toISOString();

test('a workspace has at most 1,000 unfinished batches, also where two come at once', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(1), scheduledAt: inHours(2) });
  // These copies have no rows, so no texts are made from them.
  await copyRow('sms_batches', idToBytes(id), 998, {
    id: idOfCopy,
    row_count: '0',
    stored_bytes: '0',
  });
  const post = () => postBatch(api, own, { messages: messagesTo(1), scheduledAt: inHours(2) });
  const answers = await Promise.all([post(), post(), post()]);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const refused = answers.find(({ status }) => status === 409)!;
  expect(refused.body).toMatchObject({
    type: expect.stringMatching(/limit_exceeded$/),
    detail:
      'A workspace may have at most 1000 unfinished batches. Wait until one is completed, or cancel one.',
  });
  // A refused batch leaves nothing behind, and a batch that ends makes room.
  const [left] = await query('SELECT COUNT(*) AS n FROM sms_batch_rows WHERE workspace_id = ?', [
    idToBytes(own.workspaceId),
  ]);
  expect(left!['n']).toBe(2);
  expect((await api.request('DELETE', `/v2/sms/batches/${id}`, { key: own.key })).status).toBe(200);
  expect((await post()).status).toBe(201);
});

test('an approved sender is taken in any spelling, behind however many that are not of the workspace', async () => {
  const wrong = messagesTo(501).map((message, index) => ({ ...message, sender: `X${index}` }));
  const long = 'Acme'.repeat(5);
  const right = ['Acme', 'ACME', ' acme ', null];
  const batch = await newBatch(api, own, {
    messages: [
      ...wrong,
      { ...messagesTo(1, 600)[0], sender: long },
      ...messagesTo(right.length, 700).map((message, index) => ({ ...message, sender: right[index] })),
    ],
  });
  expect(batch).toMatchObject({ counts: { total: right.length }, errorCount: 502 });
  for (const { error } of batch.errors) expect(error).toBe('sender is not a sender of this workspace');
  await workOff(batch.id);
  const messages = await messagesOf(batch.id);
  expect(messages.map(({ sender }: any) => sender)).toEqual(right.map(() => 'Acme'));
});

test('a batch is answered with its rows waiting; a worker makes a message of each', async () => {
  const batch = await newBatch(api, own, {
    messages: messagesTo(3),
    clientReference: 'May',
    clientTag: 'May News',
  });
  expect(batch).toMatchObject({
    status: 'processing',
    counts: { total: 3, waiting: 3, queued: 0, held: 0 },
    expanding: true,
    errors: [],
    errorCount: 0,
    clientReference: 'May',
    clientTag: 'may-news',
  });
  expect(await messagesOf(batch.id)).toEqual([]);
  await workOff(batch.id);
  expect(await batchOf(api, own, batch.id)).toMatchObject({
    counts: { total: 3, waiting: 0, queued: 3 },
    expanding: false,
    parts: 3,
  });
  const messages = await messagesOf(batch.id);
  expect(messages.map(({ recipient }: any) => recipient).toSorted()).toEqual(
    messagesTo(3).map(({ recipient }) => recipient),
  );
  expect(messages[0]).toMatchObject({
    batchId: batch.id,
    status: 'queued',
    content: 'Hello',
    sender: 'Acme',
    clientTag: 'may-news',
    clientReference: null,
  });
});

test("Liquid is merged with the batch's data, then the message's; a message's own values win", async () => {
  const batch = await newBatch(api, own, {
    content: 'Dear {{ name }} of {{ town }}',
    data: { name: 'friend', town: 'Ely' },
    messages: [
      { recipient: '+447911000001' },
      { recipient: '+447911000002', data: { name: 'Ada' }, clientReference: 'two' },
      { recipient: '+447911000003', content: 'Plain {{ town }}' },
    ],
  });
  await workOff(batch.id);
  const contents = (await messagesOf(batch.id)).map(({ content }: any) => content);
  expect(contents.toSorted()).toEqual(['Dear Ada of Ely', 'Dear friend of Ely', 'Plain Ely']);
});

test('rows that cannot be sent are told by their place, and the rest is taken', async () => {
  const { errors, errorCount, counts } = await newBatch(api, own, {
    messages: [
      { recipient: 'nobody' },
      { recipient: '+447911000001' },
      { recipient: '07911 000001' },
      { recipient: '+33612345678' },
      { recipient: '+447911000002', content: 'x'.repeat(5_000) },
    ],
  });
  expect(errors.map(({ index }: any) => index)).toEqual([0, 2, 3, 4]);
  expect(errors[1].error).toBe('recipient is also the recipient of an earlier message of the batch');
  expect(errors[2].error).toMatch(/^sender cannot be Acme/);
  expect(errors[3].error).toMatch(/^content takes .* parts/);
  expect([errorCount, counts.total]).toEqual([4, 1]);
  const left = ['', '0'.repeat(41), '07911\n000009x'];
  const rest = { messages: ['+447911000001', ...left].map((recipient) => ({ recipient })) };
  expect((await newBatch(api, own, rest)).errors).toEqual(
    left.map((_recipient, index) => ({ index: index + 1, error: expect.stringMatching(/^recipient /) })),
  );
  const twice = { messages: [{ recipient: '+447911000001' }, { recipient: '07911000001' }] };
  expect((await newBatch(api, own, { ...twice, allowDuplicates: true })).counts.total).toBe(2);
});

test('where no row can be sent, all is refused under the fields of the rows', async () => {
  const { status, body } = await postBatch(api, own, {
    messages: [{ recipient: 'nobody' }, { recipient: '1' }],
  });
  expect([status, Object.keys(body.errors)]).toEqual([
    400,
    ['messages[0].recipient', 'messages[1].recipient'],
  ]);
});

test.each<[string, Record<string, unknown>, string]>([
  ['neither messages nor lists', {}, 'messages'],
  ['both', { messages: messagesTo(1), listIds: ['list_01h455vb4pex5vsknk084sn02q'] }, 'messages listIds[0]'],
  ['no content', { messages: messagesTo(1), content: null }, 'content'],
  [
    'content and a template',
    { messages: messagesTo(1), template: { name: 'None' } },
    'content template.name',
  ],
  [
    'an unknown template',
    { messages: messagesTo(1), content: null, template: { name: 'None' } },
    'template.name',
  ],
  ['Liquid that does not parse', { messages: messagesTo(1), content: 'Dear {{ name' }, 'content'],
  ['an unknown list', { listIds: ['list_01h455vb4pex5vsknk084sn02q'] }, 'listIds[0]'],
  ['a time that is too near', { messages: messagesTo(1), scheduledAt: inHours(0) }, 'scheduledAt'],
  [
    'a link that cannot be shortened',
    { messages: messagesTo(1), content: 'http://me@a.example', shortenLinks: true },
    'content',
  ],
])('refused: %s', async (_, body, field) => {
  const answer = await postBatch(api, own, body);
  expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([400, field.split(' ')]);
});

test('lists need the scope lists.read, and each number gets one message, with its contact merged in', async () => {
  const blind = await textingWorkspace({ scopes: ['sms.send'] });
  const lists = { listIds: ['list_01h455vb4pex5vsknk084sn02q'] };
  expect((await postBatch(api, blind, lists)).status).toBe(403);

  const make = async (path: string, body: object) =>
    (await api.request('POST', path, { key: own.key, body })).body;
  const contacts = await Promise.all(
    ['Ada', 'Bob', 'Cid'].map(
      (firstName, index): Promise<{ id: string }> =>
        make('/v2/contacts', { number: `+44791100010${index}`, firstName }),
    ),
  );
  const ids = contacts.map(({ id }) => id);
  const list = async (contactIds: string[], name: string) => {
    const { id } = await make('/v2/contact-lists', { name });
    await make(`/v2/contact-lists/${id}/contacts`, { contactIds });
    return id;
  };
  const [first, second] = [await list(ids.slice(0, 2), 'One'), await list(ids.slice(1), 'Two')];
  const batch = await newBatch(api, own, {
    listIds: [first, second],
    excludeLists: [await list(ids.slice(2), 'Not')],
    content: 'Dear {{ contact.firstName }}',
  });
  await workOff(batch.id);
  expect(await batchOf(api, own, batch.id)).toMatchObject({
    counts: { total: 2, queued: 2 },
    expanding: false,
  });
  const messages = await messagesOf(batch.id);
  expect(messages.map(({ content }: any) => content).toSorted()).toEqual(['Dear Ada', 'Dear Bob']);
  expect(messages.map(({ contactId }: any) => contactId).toSorted()).toEqual(ids.slice(0, 2).toSorted());
});

test("an empty list's batch completes; another workspace sees nothing of it", async () => {
  const { body } = await api.request('POST', '/v2/contact-lists', { key: own.key, body: { name: 'Empty' } });
  const batch = await newBatch(api, own, { listIds: [body.id] });
  await workOff(batch.id);
  const other = await workspace();
  const path = `/v2/sms/batches/${batch.id}`;
  for (const [method, at] of [
    ['GET', path],
    ['DELETE', path],
    ['POST', `${path}/resume`],
  ] as const)
    expect((await api.request(method, at, { key: other.key })).status).toBe(404);
  expect((await api.request('GET', '/v2/sms/batches', { key: other.key })).body.data).toEqual([]);
});
