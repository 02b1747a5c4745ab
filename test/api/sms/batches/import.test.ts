import { beforeAll, expect, test } from 'vitest';
import { query, transaction } from '../../../../shared/db/client.ts';
import * as apiKeys from '../../../../shared/domain/api-keys/api-keys.ts';
import * as callers from '../../../../shared/domain/api-keys/callers.ts';
import { purge } from '../../../../shared/domain/operations/retention.ts';
import * as smsBatches from '../../../../shared/domain/sms/batches/batches.ts';
import * as waiting from '../../../../shared/domain/work/waiting.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { type Form, importForm } from '../../../support/api/form.ts';
import { signRequest } from '../../../support/api/sign-request.ts';
import { hmacKey } from '../../../support/api/signed-key.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { newBatch, statusesOf, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { copyRow } from '../../../support/database/copied-rows.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});

const post = ({ body, headers }: Form, more: Record<string, string> = {}, key = own.key) =>
  api.request('POST', '/v2/sms/batches/import', { key, body, headers: { ...headers, ...more } });
const content = 'Dear {{ First_name }}, {{ city }}';
const importOf = (csv: string | Uint8Array, settings: object = { content }) =>
  post(importForm(settings, csv));
const textsOf = async (id: string) => {
  await workOff(id);
  const { body } = await api.request('GET', `/v2/sms?batchId=${id}`, { key: own.key });
  return body.data.toReversed().map((text: any) => [text.recipient, text.content]);
};
const numbers = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => `+4474${`${first + index}`.padStart(8, '0')}`);
const rowsKept = async () => {
  const [row] = await query('SELECT COUNT(*) AS counted FROM sms_imports');
  const [rows] = await query(
    'SELECT COUNT(*) AS counted FROM sms_batch_rows r WHERE NOT EXISTS (SELECT 1 FROM sms_batches b WHERE b.id = r.batch_id)',
  );
  return [Number(row!['counted']), Number(rows!['counted'])];
};

test('a file becomes a batch, with its columns as merge data', async () => {
  const csv =
    '\ufeffFirst name;Mobile;city\r\nAda;07400 123456;"London;\r\nUK"\r\n;;\r\nBob;+447400123457;Leeds\r\n';
  const { status, body, headers } = await importOf(csv);
  expect(status).toBe(201);
  expect(headers['location']).toBe(`${api.url}/v2/sms/batches/${body.id}`);
  expect(body).toMatchObject({
    status: 'processing',
    counts: { total: 2, waiting: 2 },
    errors: [],
    errorCount: 0,
  });
  expect(await textsOf(body.id)).toEqual([
    ['+447400123456', 'Dear Ada, London;\r\nUK'],
    ['+447400123457', 'Dear Bob, Leeds'],
  ]);
  expect(await rowsKept()).toEqual([0, 0]);
});

test('columns say what is the reference, the sender and the text of a row', async () => {
  const csv = [
    'Id,To,Text,From',
    '7,+447400000001,Hello {{ Id }},Acme',
    '8, +447400000002 , , acme ',
    '" 9 ",+447400000003,"  Text as it was written ",',
  ].join('\n');
  const columns = { recipient: 'To', clientReference: 'Id', content: 'Text', sender: 'From' };
  const { body } = await importOf(csv, { content: 'Else {{ Id }}', columns });
  expect(await textsOf(body.id)).toEqual([
    ['+447400000001', 'Hello 7'],
    ['+447400000002', 'Else 8'],
    ['+447400000003', '  Text as it was written '],
  ]);
  const { body: list } = await api.request('GET', `/v2/sms?batchId=${body.id}`, { key: own.key });
  expect(list.data.map((text: any) => text.clientReference)).toEqual([' 9 ', '8', '7']);
});

test('rows that cannot be sent are told by their place, and the rest are taken', async () => {
  const csv = [
    'number,name',
    "'+447400000001,Ada",
    '4.47701E+11,Bob',
    'number,name',
    '',
    '+447400000001,Again',
    ',Nobody',
    '+447400000002,Cy,more',
    `+447400000003,${'x'.repeat(10_001)}`,
    '+447400000004,Di',
  ].join('\n');
  const { status, body } = await importOf(csv, { content: 'Hello' });
  expect(status).toBe(201);
  expect(body.counts.total).toBe(2);
  expect(body.errorCount).toBe(6);
  expect(body.errors).toEqual([
    {
      index: 1,
      error:
        'recipient was shortened by a spreadsheet program; format the column as text and save the file again',
    },
    { index: 2, error: expect.stringMatching(/^recipient /) },
    { index: 3, error: 'recipient is also the recipient of an earlier message of the batch' },
    { index: 4, error: expect.stringMatching(/^recipient /) },
    { index: 5, error: 'row has 3 cells, but the header has only 2' },
    { index: 6, error: 'row has a cell of more than 10000 characters' },
  ]);
  const twice = await importOf('number\n+447400000001\n+447400000001\n', {
    content: 'Hello',
    allowDuplicates: true,
  });
  expect(twice.body.counts.total).toBe(2);
});

test('the same file under the same key is one batch, and another file under it is refused', async () => {
  const form = importForm({ content: 'Hello' }, `number\n${numbers(3).join('\n')}`);
  const first = await post(form, { 'idempotency-key': 'file-1' });
  const again = await post(form, { 'idempotency-key': 'file-1' });
  expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
  expect(again.headers['idempotent-replayed']).toBe('true');
  const other = await post(importForm({ content: 'Hello' }, 'number\n+447400000009'), {
    'idempotency-key': 'file-1',
  });
  expect(other.status).toBe(409);
  expect(await statusesOf(first.body.id)).toEqual({});
});

test('a large file is stored in chunks that nobody sees, and then it is a batch of all of them', async () => {
  const all = numbers(30_000, 10_000);
  const csv = `number,note\n${all.map((number) => `${number},${'x'.repeat(40)}`).join('\n')}`;
  expect(csv.length).toBeGreaterThan(1024 * 1024);
  const { status, body } = await importOf(csv, { content: 'Hello' });
  expect([status, body.counts?.total]).toEqual([201, all.length]);
  const [row] = await query(
    'SELECT COUNT(DISTINCT number) AS counted, MAX(position) AS last FROM sms_batch_rows',
  );
  expect([Number(row!['counted']) >= all.length, Number(row!['last'])]).toEqual([true, all.length - 1]);
  await api.request('DELETE', `/v2/sms/batches/${body.id}`, { key: own.key });
});

test("what a process leaves behind that dies in the middle is swept, and is nobody's", async () => {
  const other = await textingWorkspace();
  const caller = await callerOf(other);
  const before = await waiting.find(other.workspaceId);
  async function* file() {
    yield Buffer.from(`number\n${numbers(2_500).join('\n')}\n`);
  }
  const prepared = await smsBatches.prepareImport(caller, { content: 'Hello' }, file);
  // Nobody sees the batch, but its rows count as waiting.
  await waiting.recountDue();
  expect((await waiting.find(other.workspaceId)).waiting.messages).toBe(2_500);
  expect((await api.request('GET', '/v2/sms/batches', { key: other.key })).body.data).toEqual([]);
  await purge();
  expect(await rowsKept()).toEqual([1, 2_500]);
  await advanceClock(11 * 60_000);
  await purge();
  expect(await rowsKept()).toEqual([0, 0]);
  expect(await waiting.find(other.workspaceId)).toEqual(before);
  await expect(
    transaction(() => smsBatches.importFile(caller, { content: 'Hello' }, prepared)),
  ).rejects.toThrow(/service_unavailable/);
});

test('an import that is refused in its last transaction gives up its rows and its slot at once', async () => {
  const other = await textingWorkspace();
  const { id } = await newBatch(api, other, { messages: [{ recipient: '+447400000001' }] });
  await copyRow('sms_batches', idToBytes(id), 999, { id: "UNHEX(LPAD(HEX(n), 32, '0'))" });
  const before = await waiting.find(other.workspaceId);
  const form = importForm({ content: 'Hello' }, `number\n${numbers(1_500).join('\n')}`);
  // Tries one import more than there are slots.
  for (const headers of [{}, { 'idempotency-key': 'refused' }, {}]) {
    const { status, body } = await post(form, headers, other.key);
    expect([status, body.detail]).toEqual([409, expect.stringContaining('1000 unfinished batches')]);
    expect(await rowsKept()).toEqual([0, 0]);
  }
  expect(await waiting.find(other.workspaceId)).toEqual(before);
  await query('DELETE FROM sms_batches WHERE id = UNHEX(LPAD(HEX(7), 32, 0))');
  expect((await post(form, { 'idempotency-key': 'refused' }, other.key)).status).toBe(201);
});

test.each([
  ['in memory', 10],
  ['on the disk', 2_000],
])(
  'a signed form, %s, is taken as it was signed, and once under its key; with one byte changed it is refused',
  async (_name, length) => {
    const other = await textingWorkspace();
    const { key, signer } = await hmacKey(other.workspaceId);
    const csv = `number,note\n${numbers(length)
      .map((number) => `${number},${'x'.repeat(600)}`)
      .join('\n')}`;
    const { body, headers } = importForm({ content: 'Hello' }, csv);
    const url = `${api.url}/v2/sms/batches/import`;
    const signed = (bytes: Buffer, nonce: string) =>
      signRequest(
        { method: 'POST', url, headers: { ...headers, 'idempotency-key': 'orders' }, body: bytes },
        signer,
        { parameters: { nonce: `"${nonce}"` } },
      );
    const changed = Buffer.from(body);
    const place = changed.lastIndexOf('+4474') + 12;
    changed[place] = changed[place] === 0x39 ? 0x30 : changed[place]! + 1;
    const refused = await post({ body: changed, headers: signed(body, '1') }, {}, key);
    expect([refused.status, await rowsKept()]).toEqual([401, [0, 0]]);
    const first = await post({ body, headers: signed(body, '2') }, {}, key);
    expect([first.status, first.body.counts?.total]).toEqual([201, length]);
    const again = await post({ body, headers: signed(body, '3') }, {}, key);
    expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([
      201,
      'true',
      first.body,
    ]);
    // The signature is good, but the same Idempotency-Key comes with another file.
    const another = await post({ body: changed, headers: signed(changed, '4') }, {}, key);
    expect([another.status, another.body.type]).toEqual([
      409,
      expect.stringMatching(/idempotency_key_reused$/),
    ]);
    const { body: listed } = await api.request('GET', '/v2/sms/batches', { key: other.key });
    expect(listed.data.map(({ id }: any) => id)).toEqual([first.body.id]);
    expect(await rowsKept()).toEqual([0, 0]);
  },
);

async function callerOf({ workspaceId }: { workspaceId: string }) {
  const { key } = await apiKeys.issue(workspaceId, {});
  return (await callers.authenticate(key, async () => true))!;
}
