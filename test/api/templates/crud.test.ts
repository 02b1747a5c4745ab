import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

let made = 0;
const newTemplate = (fields: object = {}) => ({
  name: `Reminder ${(made += 1)}`,
  content: 'Dear {{ name }}',
  ...fields,
});
const post = (body: object, key = own.key) => api.request('POST', '/v2/templates', { key, body });
const patch = (id: string, body: object) =>
  api.request('PATCH', `/v2/templates/${id}`, { key: own.key, body });
const get = (id: string) => api.request('GET', `/v2/templates/${id}`, { key: own.key });
const create = async (fields: object = {}) => (await post(newTemplate(fields))).body;

test('a template is stored as it is written, and found again', async () => {
  const request = newTemplate({
    name: ' Réminder/№1 ',
    description: 'For the day\nbefore',
    content: 'Dear {{ name }},\r\nsee you on {{ day | date: "%A" }} ',
    sampleData: { name: 'Ada', day: '2026-12-01', list: [1, { deep: null }] },
  });
  const { status, body, headers } = await post(request);
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^template_/),
    ...request,
    createdAt: expect.any(String),
    updatedAt: body.createdAt,
  });
  expect(headers['location']).toBe(`${api.url}/v2/templates/${body.id}`);
  const found = await get(body.id);
  expect([found.status, found.body]).toEqual([200, body]);
});

test('what may be left out is null', async () => {
  for (const fields of [{}, { description: null, sampleData: null }, { description: '' }])
    expect(await create(fields)).toMatchObject({ description: null, sampleData: null });
});

test('a name is unique in its workspace, by its bytes', async () => {
  const { name, id } = await create();
  expect((await post(newTemplate({ name }))).body).toMatchObject({
    status: 409,
    type: `${api.url}/problems/name_taken`,
  });
  for (const other of [name.toLowerCase(), `${name} `, name.replace('e', 'é')])
    expect((await post(newTemplate({ name: other }))).status).toBe(201);
  const stranger = await workspace();
  expect((await post(newTemplate({ name }), stranger.key)).status).toBe(201);

  const other = await create();
  expect((await patch(other.id, { name })).body).toMatchObject({
    status: 409,
    type: `${api.url}/problems/name_taken`,
  });
  expect((await get(other.id)).body).toEqual(other);
  expect((await patch(id, { name })).status).toBe(200);
});

test('of many who take a name at once one has it', async () => {
  const body = newTemplate();
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(body)));
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    201,
    ...Array(9).fill(409),
  ]);
});

test('a change changes what is given, and when it was changed', async () => {
  const before = await create({ description: 'Old', sampleData: { name: 'Ada' } });
  await advanceClock(1_000);
  const { status, body } = await patch(before.id, { content: 'Hello {{ name }}', description: '' });
  expect(status).toBe(200);
  expect(body).toEqual({
    ...before,
    content: 'Hello {{ name }}',
    description: null,
    updatedAt: expect.any(String),
  });
  expect(Date.parse(body.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
  expect((await get(before.id)).body).toEqual(body);
});

test('what is left out or null stays, and a change of nothing is none', async () => {
  const before = await create({ description: 'Old', sampleData: { name: 'Ada' } });
  await advanceClock(1_000);
  const nothing = { name: null, description: null, content: null, sampleData: null };
  for (const changes of [{}, nothing, { name: before.name, sampleData: { name: 'Ada' } }]) {
    const { status, body } = await patch(before.id, changes);
    expect([status, body]).toEqual([200, before]);
  }
});

test('of changes at the same time none is lost: a second one is to be sent again', async () => {
  const { id } = await create();
  const changes = [{ description: 'A' }, { content: 'B' }, { name: `C${made}` }, { sampleData: { d: 4 } }];
  const answers = await Promise.all(changes.map((body) => patch(id, body)));
  for (const [index, { status, headers }] of answers.entries()) {
    if (status === 200) continue;
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect((await patch(id, changes[index]!)).status).toBe(200);
  }
  expect((await get(id)).body).toMatchObject({
    description: 'A',
    content: 'B',
    name: changes[2]!.name,
    sampleData: { d: 4 },
  });
});

test('a template that is deleted is gone, and its name is free', async () => {
  const { id, name } = await create();
  const remove = () => api.request('DELETE', `/v2/templates/${id}`, { key: own.key });
  expect((await remove()).status).toBe(204);
  expect((await remove()).status).toBe(404);
  expect((await get(id)).status).toBe(404);
  expect((await patch(id, { name: 'x' })).status).toBe(404);
  expect((await post(newTemplate({ name }))).status).toBe(201);
});

test('templates are listed page by page, newest first', async () => {
  const lister = await workspace();
  const names = ['one', 'two', 'three', 'four', 'five'];
  for (const name of names) await post(newTemplate({ name }), lister.key);
  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await api.request('GET', `/v2/templates?limit=2${cursor}`, { key: lister.key });
    seen.push(...body.data.map(({ name }: { name: string }) => name));
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor);
  expect(seen).toEqual(names.toReversed());
});

test('pages of long templates are shorter', async () => {
  const lister = await workspace();
  const rows = Array.from({ length: 150 }, (_, index) => [
    idToBytes(newId('template', new Date())),
    idToBytes(lister.workspaceId),
    Buffer.from(`Template ${index}`),
    '😀'.repeat(10_000),
    new Date(),
    new Date(),
  ]);
  await query(
    'INSERT INTO sms_templates (id, workspace_id, name, content, created_at, updated_at) VALUES ?',
    [rows],
  );
  const lengths: number[] = [];
  let cursor = '';
  do {
    const { body } = await api.request('GET', `/v2/templates?limit=200${cursor}`, { key: lister.key });
    lengths.push(body.data.length);
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor);
  expect(lengths).toEqual([100, 50]);
});

test('a workspace has at most 1,000 templates', async () => {
  const full = await workspace();
  const rows = Array.from({ length: 999 }, (_, index) => [
    idToBytes(newId('template', new Date())),
    idToBytes(full.workspaceId),
    Buffer.from(`Template ${index}`),
    'x',
    new Date(),
    new Date(),
  ]);
  await query(
    'INSERT INTO sms_templates (id, workspace_id, name, content, created_at, updated_at) VALUES ?',
    [rows],
  );
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(newTemplate(), full.key)));
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    201, 409, 409, 409, 409,
  ]);
  expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({
    type: `${api.url}/problems/limit_exceeded`,
  });
});
