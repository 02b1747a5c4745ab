import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { query } from '../../../../shared/db/client.ts';
import { findRecount } from '../../../../shared/db/work/waiting-counts.system.ts';
import { changeWaiting, findWaiting } from '../../../../shared/db/work/waiting-counts.ts';
import * as smsBatches from '../../../../shared/domain/sms/batches/batches.ts';
import * as waiting from '../../../../shared/domain/work/waiting.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { importForm } from '../../../support/api/form.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import {
  batchOf,
  messagesTo,
  newBatch,
  postBatch,
  workLater,
  workOff,
} from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { countedRows } from '../../../support/database/waiting.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  changeSettings({ MAX_STORED_MB: 1 });
  own = await textingWorkspace();
});

/** Four rows of some 60 kB each. */
const heavy = { content: 'Dear {{ name }}', messages: rowsOf(4) };
function rowsOf(count: number) {
  return messagesTo(count).map((message) => ({
    ...message,
    clientReference: 'ä',
    data: { name: 'Ada', long: 'x'.repeat(60_000) },
  }));
}
const bytesOf = async () => (await findWaiting(own.workspaceId)).bytes;
/** Expects the stored counts to equal a count of the rows, and a recount to find no difference. */
async function expectRight() {
  expect(await findWaiting(own.workspaceId)).toEqual(await countedRows(own.workspaceId));
  const recount = await findRecount(own.workspaceId, new Date(now().getTime() + 60_000));
  expect(recount!.off).toEqual({ messages: 0, bytes: 0 });
}
const refused = {
  status: 409,
  body: {
    type: expect.stringMatching(/limit_exceeded$/),
    detail:
      'A workspace may have 1 MB of messages that wait to be sent; this one has 1 MB, and this request has 0.2 MB. Wait until some are sent.',
  },
};

// Shows A65
test('batches are taken up to the megabytes of their rows, and not one more, though many come at once', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => postBatch(api, own, heavy)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
  for (const answer of answers) if (answer.status !== 201) expect(answer).toMatchObject(refused);
  expect(await bytesOf()).toBeGreaterThan(4 * 4 * 60_000);
  await expectRight();
  // Rows without text or data of their own still have room, and so do other workspaces.
  expect((await postBatch(api, own, { messages: messagesTo(100) })).status).toBe(201);
  expect((await postBatch(api, await textingWorkspace(), heavy)).status).toBe(201);
  await expectRight();
});

test('a recount counts the rows of batches and imports too', async () => {
  const { id } = await newBatch(api, own, heavy);
  await changeWaiting(own.workspaceId, { messages: 3, bytes: -77_777 });
  await waiting.recountDue();
  await expectRight();
  expect(await bytesOf()).toBeGreaterThan(4 * 60_000);
  await api.request('DELETE', `/v2/sms/batches/${id}`, { key: own.key });
  await workOff(id);
  expect(await findWaiting(own.workspaceId)).toEqual({ messages: 0, bytes: 0 });
});

test('the rows of a batch that is cancelled make room when it is over', async () => {
  const { id } = await newBatch(api, own, { ...heavy, messages: rowsOf(16) });
  expect(await postBatch(api, own, heavy)).toMatchObject(refused);
  expect((await api.request('DELETE', `/v2/sms/batches/${id}`, { key: own.key })).status).toBe(200);
  await workOff(id);
  expect(await bytesOf()).toBe(0);
  await expectRight();
  expect((await postBatch(api, own, heavy)).status).toBe(201);
});

test('the rows of a batch make room when it is completed, and no sooner', async () => {
  const messages = rowsOf(16);
  for (const { recipient: number } of messages)
    await api.request('POST', '/v2/suppressions', { key: own.key, body: { number } });
  const { id } = await newBatch(api, own, { ...heavy, messages });
  const stored = await bytesOf();
  await workOff(id);
  if ((await batchOf(api, own, id)).status !== 'completed') {
    expect(await bytesOf()).toBe(stored);
    expect(await postBatch(api, own, heavy)).toMatchObject(refused);
    await expectRight();
    await workLater(id);
  }
  expect(await batchOf(api, own, id)).toMatchObject({ status: 'completed', counts: { failed: 16 } });
  expect(await bytesOf()).toBe(0);
  await expectRight();
});

const columns = Array.from({ length: 6 }, (_, index) => `c${index}`);
const csvOf = (rows: number) =>
  [
    ['number', ...columns].join(','),
    ...messagesTo(rows).map(({ recipient }) =>
      [recipient, ...columns.map(() => 'x'.repeat(9_900))].join(','),
    ),
  ].join('\n');
const importCsv = (csv: string, settings: object = {}) => {
  const { body, headers } = importForm({ content: 'Hello {{ c0 | size }}', ...settings }, csv);
  return api.request('POST', '/v2/sms/batches/import', { key: own.key, body, headers });
};

const long = { data: { long: 'x'.repeat(300_000) } };

test('what a batch says for all of its messages counts as well, however these are given, until it is over', async () => {
  const list = await api.request('POST', '/v2/contact-lists', { key: own.key, body: { name: 'None' } });
  const ofRows = await newBatch(api, own, { messages: messagesTo(1), ...long });
  const ofList = await newBatch(api, own, { listIds: [list.body.id], ...long });
  const ofFile = await importCsv(csvOf(1), long);
  expect(ofFile.status).toBe(201);
  expect(await bytesOf()).toBeGreaterThan(900_000);
  await expectRight();
  for (const answer of [
    await postBatch(api, own, { messages: messagesTo(1), ...long }),
    await postBatch(api, own, { listIds: [list.body.id], ...long }),
    await importCsv(csvOf(1), long),
  ])
    expect([answer.status, answer.body.detail]).toEqual([
      409,
      'A workspace may have 1 MB of messages that wait to be sent; this one has 1 MB, and this request has 0.3 MB. Wait until some are sent.',
    ]);
  await expectRight();
  const ids = [ofRows.id, ofList.id, ofFile.body.id];
  for (const id of ids) {
    await api.request('DELETE', `/v2/sms/batches/${id}`, { key: own.key });
    await workOff(id);
  }
  expect(await bytesOf()).toBe(0);
  await expectRight();
  const [kept] = await query(
    'SELECT COUNT(*) AS n FROM sms_batches WHERE id IN (?) AND (content IS NOT NULL OR data IS NOT NULL)',
    [ids.map(idToBytes)],
  );
  expect(kept!['n']).toBe(0);
});

// Shows A65
test('files are imported up to the megabytes of their rows; of one that is refused nothing stays or counts', async () => {
  const first = await importCsv(csvOf(15));
  expect(first.status).toBe(201);
  const stored = await bytesOf();
  expect(stored).toBeGreaterThan(15 * 6 * 9_900);
  await expectRight();
  const { status, body } = await importCsv(csvOf(4));
  expect([status, body.detail]).toEqual([
    409,
    'A workspace may have 1 MB of messages that wait to be sent; this one has 0.9 MB, and this request has 0.2 MB. Wait until some are sent.',
  ]);
  expect(await bytesOf()).toBe(stored);
  await expectRight();
  await api.request('DELETE', `/v2/sms/batches/${first.body.id}`, { key: own.key });
  await workOff(first.body.id);
  expect(await bytesOf()).toBe(0);
  expect((await importCsv(csvOf(4))).status).toBe(201);
  await expectRight();
});

test('an import of more than half of the messages that may wait is taken: its rows count once', async () => {
  changeSettings({ MAX_WAITING_ROWS: 10 });
  expect((await importCsv(csvOf(8))).status).toBe(201);
  expect((await importCsv(csvOf(3))).status).toBe(409);
  expect((await findWaiting(own.workspaceId)).messages).toBe(8);
  changeSettings({ MAX_WAITING_ROWS: 5_000_000 });
});

test('an import counts while its file is read, and no more when it has come to nothing', async () => {
  changeSettings({ MAX_STORED_MB: 10 });
  // Some rows are stored before the fault at the end is seen.
  const csv = csvOf(60);
  expect((await importCsv(`${csv}\n\0`)).status).toBe(400);
  expect(await bytesOf()).toBe(0);
  await expectRight();
});

test('an import that a process has left behind counts until it is forgotten', async () => {
  const { body } = await importCsv(csvOf(3));
  const id = idToBytes(body.id);
  // As if the process had died before it made the batch. A batch also counts its own content and data.
  const [row] = await query('SELECT LENGTH(content) + LENGTH(data) AS own FROM sms_batches WHERE id = ?', [
    id,
  ]);
  await changeWaiting(own.workspaceId, { bytes: -Number(row!['own']) });
  const stored = await bytesOf();
  await query(
    `INSERT INTO sms_imports (batch_id, workspace_id, touched_at, stored_bytes)
     SELECT id, workspace_id, created_at, stored_bytes - ? FROM sms_batches WHERE id = ?`,
    [row!['own'], id],
  );
  await query('DELETE FROM sms_batches WHERE id = ?', [id]);
  expect(await bytesOf()).toBe(stored);
  await expectRight();
  await advanceClock(11 * 60_000);
  await Promise.all([smsBatches.deleteLeftImports(), smsBatches.deleteLeftImports()]);
  expect(await findWaiting(own.workspaceId)).toEqual({ messages: 0, bytes: 0 });
  await expectRight();
});
