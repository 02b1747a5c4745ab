import { beforeAll, describe, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { add as addBalance } from '../../../shared/domain/sms/balance.ts';
import { load } from '../../../shared/domain/sms/prices.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { codeSentTo, sampleContent } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

type Own = typeof own;
const request = (body: object, { key }: Own = own) =>
  api.request('POST', '/v2/senders', { key, body: { sampleContent, ...body } });
const statusesOf = (answers: Answer[]) =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other);
const check = async (name: string, { key }: Own = own) =>
  (await api.request('GET', `/v2/senders/check?name=${encodeURIComponent(name)}`, { key })).body;
const read = async (id: string, { key }: Own = own) =>
  (await api.request('GET', `/v2/senders/${id}`, { key })).body;

test.each([
  'Ab',
  'Twelve chars',
  'Acme!',
  'Ac-me',
  'Acmé',
  'Аcme',
  '123',
  '12345678901',
  '07000000000',
  '07600000000',
  '0740000000',
  '074000000000',
  '08400000000',
  '0740000000O0',
  '+447400000000',
  '447400000000',
  '     ',
  '٠٧٤٠٠٠٠٠٠٠٠',
])('%j is refused as a name, and the check says the same', async (name) => {
  const { status, body } = await request({ name });
  expect([status, Object.keys(body.errors)]).toEqual([400, ['name']]);
  expect(await check(name)).toMatchObject({ name, kind: null, acceptable: false, existing: null });
});

test.each([
  ['Acme', 'Acme', 'name'],
  ['  a_1  ', 'a_1', 'name'],
  ['1 a', '1 a', 'name'],
  ['Eleven char', 'Eleven char', 'name'],
  ['07400 111 222', '07400111222', 'mobile'],
  ['07624000000', '07624000000', 'mobile'],
  ['07700900123', '07700900123', 'mobile'],
])('%j can be a name', async (name, stored, kind) => {
  expect(await check(name)).toEqual({ name: stored, kind, acceptable: true, reasons: [], existing: null });
});

test('all that is wrong is said at once', async () => {
  const { status, body } = await request({ name: '12345', countries: ['GB', 'gb', 'UK', 'ZZ'] });
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual(['name', 'countries[1]', 'countries[2]', 'countries[3]']);
});

test.each([
  ['sampleContent', { sampleContent: 'Nineteen characters' }],
  ['sampleContent', { sampleContent: 'x'.repeat(257) }],
  ['sampleContent', { sampleContent: null }],
  ['countries', { countries: [] }],
  ['countries[0]', { countries: ['GBR'] }],
  ['countries[0]', { countries: ['__'] }],
  ['countries', { countries: 'GB' }],
])('%s is refused in %j', async (field, body) => {
  const answer = await request({ name: 'Acme', ...body });
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
});

test('the check tells of what stands against a name, and of the sender that has it', async () => {
  const there = await workspace();
  const first = (await request({ name: 'Acme' }, there)).body;
  expect(await check('ACME', there)).toMatchObject({ acceptable: true, existing: first });
  await senders.reject(first.id, ['GB'], 'No');
  expect(await check('Acme', there)).toMatchObject({
    acceptable: false,
    reasons: ['was rejected before'],
    existing: { status: 'rejected' },
  });
  await api.request('DELETE', `/v2/senders/${first.id}`, { key: there.key });
  expect(await check('acme', there)).toMatchObject({
    acceptable: false,
    reasons: ['was rejected before for GB'],
    existing: null,
  });
  await request({ name: '07404000001' }, there);
  expect(await check('07404000002', there)).toMatchObject({ kind: 'mobile', acceptable: false });
  expect(await check('07404000001', there)).toMatchObject({ acceptable: true });
  expect(await check('Acme')).toMatchObject({ acceptable: true, existing: null });
});

test('they are listed newest first, by pages', async () => {
  const there = await workspace();
  const made: string[] = [];
  for (const name of ['One', 'Two', 'Three']) made.unshift((await request({ name }, there)).body.id);
  const page = async (query: string) =>
    (await api.request('GET', `/v2/senders?${query}`, { key: there.key })).body;
  const first = await page('limit=2');
  const second = await page(`limit=2&cursor=${first.nextCursor}`);
  expect([...first.data, ...second.data].map(({ id }: any) => id)).toEqual(made);
  expect(second.nextCursor).toBeNull();
  expect((await page('')).data[0].countries).toEqual([{ country: 'GB', status: 'pending' }]);
});

test('the first sender that is approved is the default; another takes its place when it is gone or rejected', async () => {
  const there = await workspace();
  const [one, two, three] = [
    (await request({ name: 'One' }, there)).body.id,
    (await request({ name: 'Two' }, there)).body.id,
    (await request({ name: '07405000001' }, there)).body.id,
  ];
  const defaults = async () => {
    const { body } = await api.request('GET', '/v2/senders', { key: there.key });
    return body.data.filter((sender: any) => sender.default).map(({ id }: any) => id);
  };
  expect(await defaults()).toEqual([]);
  await senders.approve(one, ['GB']);
  await senders.approve(two, ['GB']);
  expect(await defaults()).toEqual([one]);
  await senders.makeDefault(two);
  expect(await defaults()).toEqual([two]);
  await expect(senders.makeDefault(three)).rejects.toThrow('awaiting_verification');
  await senders.reject(two, ['GB'], 'No longer');
  expect(await defaults()).toEqual([one]);
  const code = await codeSentTo(there.workspaceId, '07405000001');
  await api.request('POST', `/v2/senders/${three}/verify`, { key: there.key, body: { code } });
  expect(await defaults()).toEqual([one]);
  const number = await senders.addNumber(there.workspaceId);
  await senders.assignNumber(number.id, '+447451000099');
  await api.request('DELETE', `/v2/senders/${one}`, { key: there.key });
  expect(await defaults()).toEqual([three]);
  await api.request('DELETE', `/v2/senders/${three}`, { key: there.key });
  expect(await defaults()).toEqual([number.id]);
  await senders.unassignNumber(number.id);
  expect(await defaults()).toEqual([]);
  await senders.approve(two, ['GB']);
  expect(await defaults()).toEqual([two]);
});

test('the customer chooses the default among approved senders', async () => {
  const there = await workspace();
  const first = await senders.addApproved(there.workspaceId, 'First');
  const second = await senders.addApproved(there.workspaceId, 'Second');
  const pending = (await request({ name: 'Pending' }, there)).body;
  const change = (id: string, body: object) =>
    api.request('PATCH', `/v2/senders/${id}`, { key: there.key, body });
  const chosen = await change(second.id, { default: true });
  expect([chosen.status, chosen.body]).toEqual([200, { ...second, default: true }]);
  expect(await read(first.id, there)).toEqual({ ...first, default: false });
  expect((await change(second.id, { default: true })).body.default).toBe(true);
  expect((await change(first.id, {})).body.default).toBe(false);
  const refused = await change(pending.id, { default: true });
  expect([refused.status, codeOf(refused.body)]).toEqual([409, 'sender_not_approved']);
  for (const value of [false, null, 'true']) {
    const { status, body } = await change(first.id, { default: value });
    expect([status, Object.keys(body.errors)]).toEqual([400, ['default']]);
  }
  expect(await read(second.id, there)).toMatchObject({ default: true });
});

test('a listing of one status has those senders only, by pages', async () => {
  const there = await workspace();
  const made = ['One', 'Two', 'Three'].map((name) => senders.addApproved(there.workspaceId, name));
  const ids = (await Promise.all(made)).map(({ id }) => id).toSorted();
  await request({ name: 'Pending' }, there);
  const list = async (query: string) =>
    (await api.request('GET', `/v2/senders?${query}`, { key: there.key })).body;
  expect((await list('status=pending')).data).toMatchObject([{ name: 'Pending' }]);
  const first = await list('status=approved&limit=2');
  const second = await list(`status=approved&limit=2&cursor=${first.nextCursor}`);
  expect([...first.data, ...second.data].map(({ id }: any) => id)).toEqual(ids.toReversed());
  expect(second.nextCursor).toBeNull();
  expect((await list(`limit=2&cursor=${first.nextCursor}`)).errors).toHaveProperty('cursor');
  expect((await list('status=gone')).errors).toHaveProperty('status');
});

describe('an approved sender goes only when no message waits to be sent with it', () => {
  const later = () => new Date(Date.now() + 3_600_000).toISOString();
  const batches: Record<string, object> = {
    'a batch': { sender: 'ACME', messages: [{ recipient: '07700 900101' }] },
    'a batch from the default': { messages: [{ recipient: '07700 900101' }] },
    'a row of a batch': { sender: 'Other', messages: [{ recipient: '07700 900101', sender: 'acme' }] },
  };
  test.each([...Object.keys(batches), 'a text', 'a held text'])('%s', async (what) => {
    const there = await workspace();
    const { id } = await senders.addApproved(there.workspaceId, 'Acme');
    await senders.addApproved(there.workspaceId, 'Other');
    const call = (method: string, path: string, body?: object) =>
      api.request(method, path, { key: there.key, ...(body && { body }) });
    const content = 'Hello';
    if (what === 'a held text') {
      await load('country,gbp,eur,validFrom\nGB,0.0345,0.0412,2020-01-01');
      await addBalance(there.workspaceId, 1, null);
    }
    const path = batches[what] ? '/v2/sms/batches' : '/v2/sms';
    const scheduledAt = what === 'a held text' ? null : later();
    const body = batches[what] ?? { sender: 'acme', recipient: '07700 900101' };
    const waiting = await call('POST', path, { ...body, content, scheduledAt });
    expect([waiting.status, waiting.body.status]).toEqual([
      201,
      expect.stringMatching(/queued|held|scheduled/),
    ]);
    const refused = await call('DELETE', `/v2/senders/${id}`);
    expect([refused.status, codeOf(refused.body)]).toEqual([409, 'in_use']);
    expect(await read(id, there)).toMatchObject({ status: 'approved' });
    expect((await call('DELETE', `${path}/${waiting.body.id}`)).status).toBe(200);
    expect((await call('DELETE', `/v2/senders/${id}`)).status).toBe(204);
    expect((await read(id, there)).status).toBe(404);
  });
});

test('an operator who approves a name has thought otherwise than the one who rejected it', async () => {
  const there = await workspace();
  const { id } = (await request({ name: 'Acme' }, there)).body;
  await senders.reject(id, ['GB'], 'No');
  await api.request('DELETE', `/v2/senders/${id}`, { key: there.key });
  const approved = await senders.addApproved(there.workspaceId, 'ACME');
  await api.request('DELETE', `/v2/senders/${approved.id}`, { key: there.key });
  expect((await request({ name: 'Acme' }, there)).status).toBe(201);
});

test('a sender is approved once a country is, and rejected when all are, with the reason', async () => {
  const { id } = (await request({ name: 'Countries', countries: ['FR', 'GB', 'IE'] })).body;
  await senders.reject(id, ['FR'], 'Not registered there');
  expect(await read(id)).toMatchObject({
    status: 'pending',
    countries: [
      { country: 'FR', status: 'rejected', reason: 'Not registered there' },
      { country: 'GB', status: 'pending' },
      { country: 'IE', status: 'pending' },
    ],
  });
  await senders.approve(id, ['IE']);
  expect((await read(id)).status).toBe('approved');
  await senders.reject(id, ['GB', 'IE'], 'No');
  expect((await read(id)).status).toBe('rejected');
  await expect(senders.approve(id, ['US'])).rejects.toThrow('of those requested');
  await expect(senders.reject(id, ['GB'], '')).rejects.toThrow('1 to 256');
});

test('a virtual number shows a fixed text until it is assigned, and again when it is taken back', async () => {
  const { id } = await senders.addNumber(own.workspaceId, ['IE', 'GB']);
  const other = await senders.addNumber((await workspace()).workspaceId);
  const unassigned = {
    kind: 'virtual_number',
    name: 'Not yet assigned',
    status: 'pending',
    countries: [
      { country: 'GB', status: 'pending' },
      { country: 'IE', status: 'pending' },
    ],
  };
  expect(await read(id)).toMatchObject(unassigned);
  await senders.assignNumber(id, '07451 000 001');
  expect(await read(id)).toMatchObject({ name: '+447451000001', status: 'approved' });
  await expect(senders.assignNumber(other.id, '+447451000001')).rejects.toThrow('assigned already');
  await expect(senders.removeNumber(id)).rejects.toThrow('unassign it first');
  await senders.unassignNumber(id);
  expect(await read(id)).toMatchObject(unassigned);
  await senders.assignNumber(other.id, '+447451000001');
  await senders.removeNumber(id);
  expect((await read(id)).status).toBe(404);
  const refused = await api.request('DELETE', `/v2/senders/${other.id}`, { key: own.key });
  expect(refused.status).toBe(404);
});

test('the five-hundred-and-first is refused, also when several ask at once for the last place', async () => {
  const full = await workspace();
  await request({ name: 'First' }, full);
  await query(
    `INSERT INTO senders (id, workspace_id, kind, name, name_key, status, created_at)
     SELECT UNHEX(LEFT(SHA2(RAND(), 256), 32)), s.workspace_id, s.kind, CONCAT('n', seq), CONCAT('n', seq), s.status, s.created_at
     FROM (WITH RECURSIVE n AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM n WHERE seq < 498) SELECT seq FROM n) AS n
     JOIN senders s ON s.workspace_id = ?`,
    [idToBytes(full.workspaceId)],
  );
  const answers = await Promise.all(['One', 'Two', 'Three'].map((name) => request({ name }, full)));
  expect(statusesOf(answers)).toEqual([201, 409, 409]);
  expect(codeOf(answers.find(({ status }) => status === 409)!.body)).toBe('limit_exceeded');
  expect((await request({ name: 'First' }, full)).status).toBe(200);
  expect(await check('Five', full)).toMatchObject({ acceptable: false });
});
