import { beforeAll, expect, test } from 'vitest';
import { query, transaction } from '../../../../shared/db/client.ts';
import * as apiKeys from '../../../../shared/domain/api-keys/api-keys.ts';
import * as callers from '../../../../shared/domain/api-keys/callers.ts';
import * as smsBatches from '../../../../shared/domain/sms/batches/batches.ts';
import { readRows } from '../../../../shared/domain/sms/batches/import/read-rows.ts';
import { type Form, formOf, importForm } from '../../../support/api/form.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});

const post = ({ body, headers }: Form, more: Record<string, string> = {}, key = own.key) =>
  api.request('POST', '/v2/sms/batches/import', { key, body, headers: { ...headers, ...more } });
const hello = (csv: string | Uint8Array, settings: object = {}) =>
  importForm({ content: 'Hello', ...settings }, csv);
const codeOf = ({ body }: { body: any }) => String(body.type).split('/').at(-1);
const number = '+447400000001';
const columns = (count: number) =>
  ['number', ...Array.from({ length: count - 1 }, (_, index) => `c${index}`)].join(',');
const kept = async () =>
  await Promise.all(
    ['sms_imports', 'sms_batch_rows', 'sms_batches'].map(async (table) => {
      const [row] = await query(`SELECT COUNT(*) AS counted FROM ${table}`);
      return Number(row!['counted']);
    }),
  );

/** The field of each fault, and a pattern that its message matches. */
type Faults = Record<string, RegExp>;

test.each<[string, Form, Faults]>([
  [
    'settings without a text',
    importForm({}, `number\n${number}`),
    { content: /^is missing: give content, / },
  ],
  [
    'recipients beside the file, and lists to leave out',
    hello(`number\n${number}`, {
      messages: [{ recipient: number }],
      listIds: ['clist_1'],
      excludeLists: ['clist_2'],
    }),
    {
      messages: /^is not allowed: the rows of the file are the recipients$/,
      listIds: /^is not allowed/,
      excludeLists: /^is not allowed/,
    },
  ],
  ['a file of nothing', hello(''), { file: /^has no header row \(line 1\)$/ }],
  ['a byte order mark alone', hello('\ufeff'), { file: /^has no header row \(line 1\)$/ }],
  ['empty rows alone', hello('\n;;\n\n'), { file: /^has no header row \(line 1\)$/ }],
  ['a header alone', hello('number\n'), { file: /^has no rows below its header$/ }],
  [
    'no column for the recipient',
    hello('\nname;to\nAda;1'),
    { file: /^has no column for the recipient: .* \(line 2\)$/ },
  ],
  [
    'columns that are none',
    hello('number\n1', { columns: { sender: 'x' } }),
    { 'columns.sender': /^is not the name of a column of the file \(line 1\)$/ },
  ],
  [
    'all that is wrong with a header at once',
    importForm({ columns: { sender: 'x', clientReference: 'y' } }, 'number,a b,a_b\n1,2,3'),
    {
      file: /^has the columns "a b" and "a_b", .* \(line 1\)$/,
      'columns.clientReference': /^is not the name of a column of the file \(line 1\)$/,
      'columns.sender': /^is not the name of a column of the file \(line 1\)$/,
      content: /^is missing: give content, template or columns.content$/,
    },
  ],
  [
    'columns that collide',
    hello(`number,a b,a-b\n${number},2,3`),
    {
      file: /^has the columns "a b" and "a-b", which both become a_b in Liquid; rename one of them \(line 1\)$/,
    },
  ],
  ['the same column twice', hello(`number,a,a\n${number},2,3`), { file: /"a" and "a".* \(line 1\)$/ }],
  [
    'the column contact',
    hello(`number,contact\n${number},2`),
    { file: /^has a column "contact".* \(line 1\)$/ },
  ],
  [
    '201 columns',
    hello(`${columns(201)}\n${number}`),
    { file: /^has 201 columns in its header; it may have at most 200 \(line 1\)$/ },
  ],
  [
    'a quote that never closes',
    hello(`number\n${number}\n+447400000002\n"1\n2\n`),
    { file: /^has a quote that never closes \(line 4\)$/ },
  ],
  ['a quote within a cell', hello(`number,a\n${number},2" x\n`), { file: /^is not CSV.* \(line 2\)$/ }],
  [
    'a row of more than 64 KiB',
    hello(`number,a,b,c,d,e,f,g\n${number}${`,${'x'.repeat(9_900)}`.repeat(7)}\n`),
    { file: /^has a row of more than 64 KiB.* \(line 2\)$/ },
  ],
  [
    'a header of more than 64 KiB',
    hello(`number,${'x'.repeat(70_000)}\n${number},1`),
    { file: /^has a row of more than 64 KiB.* \(line 1\)$/ },
  ],
  [
    'another encoding',
    hello(Buffer.from(`number,a\n${number},Größe`, 'latin1')),
    { file: /^is not UTF-8.* \(line 2\)$/ },
  ],
  [
    'a NUL',
    hello(`number,a\n${number},\0`),
    { file: /^has a NUL character, which is not allowed \(line 2\)$/ },
  ],
  [
    'no row that can be sent',
    hello('number\n1\n4.47701E+11'),
    {
      'file[0].recipient': /./,
      'file[1].recipient':
        /^was shortened by a spreadsheet program; format the column as text and save the file again$/,
    },
  ],
  ['a sender in settings that is a number', hello('number\n1', { sender: 7 }), { sender: /^must be/ }],
  ['no file', formOf([{ name: 'settings', content: '{}' }]), { file: /^is missing$/ }],
  [
    'settings behind the file',
    formOf([
      { name: 'file', content: 'a' },
      { name: 'settings', content: '{}' },
    ]),
    { settings: /^must come before file$/ },
  ],
  [
    'two files',
    formOf(['a', 'b'].map((content) => ({ name: 'file', content }))),
    { file: /^must be sent only once$/ },
  ],
  [
    'settings twice',
    formOf(['settings', 'settings', 'file'].map((name) => ({ name, content: '{}' }))),
    { settings: /^must be sent only once$/ },
  ],
  [
    'half a form',
    { ...hello('number'), body: hello('number').body.subarray(0, -20) },
    { body: /^is not valid multipart\/form-data$/ },
  ],
])('%s is refused, and nothing stays', async (_name, form, faults) => {
  const before = await kept();
  const { status, body } = await post(form);
  expect([status, Object.keys(body.errors ?? {})]).toEqual([400, Object.keys(faults)]);
  for (const [field, message] of Object.entries(faults))
    expect(body.errors[field]).toEqual([expect.stringMatching(message)]);
  expect(await kept()).toEqual(before);
});

test('200 columns, and cells of 10,000 characters however many bytes these have, are taken', async () => {
  const csv = `${columns(200)}\n${number},${'🙂'.repeat(10_000)}\n+447400000002,${'🙂'.repeat(10_001)}\n`;
  const { status, body } = await post(hello(csv));
  expect([status, body.counts?.total, body.errors]).toEqual([
    201,
    1,
    [{ index: 1, error: 'row has a cell of more than 10000 characters' }],
  ]);
  await workOff(body.id);
});

test('one row more than a file may have is refused with its line', async () => {
  async function* file() {
    yield Buffer.from('number\n1\n\n2\n3\n');
  }
  const stored: unknown[] = [];
  const store = async (rows: unknown[]) => void stored.push(...rows);
  const options = { workspaceId: own.workspaceId, content: 'Hello', at: new Date(), store };
  const read = (mostRows?: number) =>
    readRows(file(), { content: 'Hello' }, { ...options, ...(mostRows && { mostRows }) });
  await expect(read(2)).rejects.toMatchObject({
    options: { errors: { file: ['has more than 2 rows (line 5)'] } },
  });
  await expect(read(3)).rejects.toMatchObject({
    options: { errors: { 'file[2].recipient': [expect.any(String)] } },
  });
});

test('a file is taken as it is, or not at all: compressed, of another type, or too large it is refused unread', async () => {
  const form = hello(`number\n${number}`);
  expect((await post(form, { 'content-encoding': 'gzip' })).status).toBe(415);
  for (const type of ['application/json', 'text/csv', 'multipart/form-data', 'multipart/mixed; boundary=a'])
    expect([type, (await post({ ...form, headers: { 'content-type': type } })).status]).toEqual([type, 415]);
  const large = await post({ ...form, body: Buffer.alloc(20 * 1024 * 1024 + 1) });
  expect([large.status, codeOf(large)]).toEqual([413, 'payload_too_large']);
  const unread = formOf([
    { name: 'settings', content: '{' },
    { name: 'file', content: 'number' },
  ]);
  expect(codeOf(await post(unread))).toBe('malformed_json');
});

test('two files of a workspace are imported at a time', async () => {
  const other = await textingWorkspace();
  const { key } = await apiKeys.issue(other.workspaceId, {});
  const caller = (await callers.authenticate(key, async () => true))!;
  const gate = Promise.withResolvers<void>();
  async function* file() {
    yield Buffer.from('number\n+447400000001\n');
    await gate.promise;
  }
  const before = await kept();
  const slow = [1, 2].map(() => smsBatches.prepareImport(caller, { content: 'Hello' }, file));
  await waitFor('both have begun', async () => (await kept())[0] === 2);
  const third = await post(hello(`number\n${number}`), {}, other.key);
  expect([third.status, codeOf(third)]).toEqual([409, 'limit_exceeded']);
  // Another workspace does not have to wait.
  const elsewhere = await post(hello(`number\n${number}`));
  expect(elsewhere.status).toBe(201);
  gate.resolve();
  for (const prepared of await Promise.all(slow))
    await transaction(() => smsBatches.importFile(caller, { content: 'Hello' }, prepared));
  expect((await kept())[0]).toBe(before[0]);
});
