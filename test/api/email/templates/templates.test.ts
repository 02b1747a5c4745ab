import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { idToBytes, newUuid } from '../../../../shared/formats/ids.ts';
import { codeOf } from '../../../support/api/contract.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const path = '/v2/email/templates';
const call = (method: string, at: string, body?: object, key = own.key) =>
  api.request(method, path + at, { key, ...(body && { body }) });
const create = (body: object, key = own.key) => call('POST', '', body, key);
let made = 0;
const newName = () => `template-${(made += 1)}`;
const createdWith = async (body: object = {}) =>
  (await create({ name: newName(), html: '<p>{{ a }}</p>', ...body })).body;

test('a template is made with all of its fields and found again', async () => {
  const body = {
    name: 'Welcome_1-a',
    description: 'For new ones\nof all kinds',
    format: 'html',
    html: '<p>Dear {{ name }}</p>\n',
    text: 'Dear {{ name }}',
    sampleData: { name: 'Ada', list: [1, { deep: null }] },
  };
  const answer = await create(body);
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^etemplate_/),
    ...body,
    createdAt: expect.any(String),
    updatedAt: answer.body.createdAt,
  });
  expect(answer.headers['location']).toBe(`${api.url}${path}/${answer.body.id}`);
  const found = await call('GET', `/${answer.body.id}`);
  expect([found.status, found.body]).toEqual([200, answer.body]);
});

test('what is left out is html without text, description or sampleData', async () => {
  for (const left of [
    {},
    { description: null, format: null, text: null, sampleData: null },
    { description: '' },
  ])
    expect(await createdWith(left)).toMatchObject({
      format: 'html',
      description: null,
      text: '',
      sampleData: null,
    });
});

test.each([
  ['no name', { name: undefined }, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['65 characters', { name: 'a'.repeat(65) }, 'name'],
  ['a space in the name', { name: 'a b' }, 'name'],
  ['a dot in the name', { name: 'a.b' }, 'name'],
  ['letters of other alphabets', { name: 'Grüße' }, 'name'],
  ['a line end after the name', { name: 'a\n' }, 'name'],
  ['257 characters', { description: 'd'.repeat(257) }, 'description'],
  ['another format', { format: 'text' }, 'format'],
  ['no html', { html: undefined }, 'html'],
  ['empty html', { html: '' }, 'html'],
  ['sampleData of another kind', { sampleData: [1] }, 'sampleData'],
  ['sampleData of 5,001 characters', { sampleData: { a: 'x'.repeat(5_001 - 8) } }, 'sampleData'],
])('%s is refused by its field', async (_name, change, field) => {
  const { status, body } = await create({ name: newName(), html: 'x', ...change });
  expect([status, codeOf(body), Object.keys(body.errors)]).toEqual([400, 'validation_failed', [field]]);
});

test('the longest of everything is taken', async () => {
  const { status, body } = await create({
    name: 'a'.repeat(64),
    description: '😀'.repeat(256),
    html: 'ä'.repeat(500_000),
    text: 'x'.repeat(1_000_000),
    sampleData: { a: 'x'.repeat(5_000 - 8) },
  });
  expect(status).toBe(201);
  expect((await call('GET', `/${body.id}`)).body).toEqual(body);
});

test('a name is taken once in a workspace, by its bytes, on create and on change', async () => {
  const first = await createdWith();
  for (const name of [first.name.toUpperCase(), `${first.name}-`])
    expect((await create({ name, html: 'x' })).status).toBe(201);
  const again = await create({ name: first.name, html: 'x' });
  expect([again.status, codeOf(again.body)]).toEqual([409, 'name_taken']);
  const other = await createdWith();
  const renamed = await call('PATCH', `/${other.id}`, { name: first.name, description: 'lost' });
  expect([renamed.status, codeOf(renamed.body)]).toEqual([409, 'name_taken']);
  expect((await call('GET', `/${other.id}`)).body).toEqual(other);
  // No conflict: the template's own name, a name of another workspace, and a name that is free again.
  expect((await call('PATCH', `/${first.id}`, { name: first.name })).status).toBe(200);
  expect((await create({ name: first.name, html: 'x' }, (await workspace()).key)).status).toBe(201);
  expect((await call('DELETE', `/${first.id}`)).status).toBe(204);
  expect((await create({ name: first.name, html: 'x' })).status).toBe(201);
});

test('of several requests at once for a name, one gets it', async () => {
  const name = newName();
  const statuses = await Promise.all(
    Array.from({ length: 5 }, async () => (await create({ name, html: 'x' })).status),
  );
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409]);
});

test('a change keeps what is left out or null, and an empty description and text clear', async () => {
  const template = await createdWith({ description: 'D', text: 'T', sampleData: { a: 1 } });
  const nothing = { name: null, description: null, format: null, html: null, text: null, sampleData: null };
  for (const change of [{}, nothing])
    expect((await call('PATCH', `/${template.id}`, change)).body).toEqual(template);
  const cleared = await call('PATCH', `/${template.id}`, { description: '', text: '' });
  expect(cleared.body).toEqual({
    ...template,
    description: null,
    text: '',
    updatedAt: cleared.body.updatedAt,
  });
});

test('updatedAt changes with name, description, format and sampleData, and not with html and text alone', async () => {
  const template = await createdWith({ description: 'D', sampleData: { a: 1 } });
  let { updatedAt } = template;
  const change = async (changes: object) => {
    await advanceClock(1_000);
    const { status, body } = await call('PATCH', `/${template.id}`, changes);
    expect([status, body]).toEqual([200, expect.objectContaining(changes)]);
    const isLater = body.updatedAt > updatedAt;
    updatedAt = body.updatedAt;
    return isLater;
  };
  expect(await change({ html: '<b>{{ a }}</b>', text: 'new' })).toBe(false);
  expect(await change({ name: newName() })).toBe(true);
  expect(await change({ description: 'E' })).toBe(true);
  expect(await change({ sampleData: { a: 2 } })).toBe(true);
  expect(await change({ sampleData: { a: 2 }, description: 'E' })).toBe(false);
  expect(await change({ html: '<i>{{ a }}</i>', description: 'F' })).toBe(true);
  const mjml = '<mjml><mj-body><mj-raw>{{ a }}</mj-raw></mj-body></mjml>';
  expect(await change({ html: mjml, format: 'mjml' })).toBe(true);
});

test('the version rises with every change, and with nothing else', async () => {
  const { id } = await createdWith();
  const version = async () =>
    (await query('SELECT version FROM email_templates WHERE id = ?', [idToBytes(id)]))[0]!['version'];
  expect(await version()).toBe(1);
  await call('PATCH', `/${id}`, { html: 'new' });
  await call('PATCH', `/${id}`, { description: 'new' });
  await call('PATCH', `/${id}`, { description: 'new', html: 'new' });
  await call('PATCH', `/${id}`, { html: '{{ broken' });
  expect(await version()).toBe(3);
});

test('a deleted template is gone, and deleting it again is 404', async () => {
  const { id } = await createdWith();
  expect((await call('DELETE', `/${id}`)).status).toBe(204);
  for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { text: 'x' }]] as const)
    expect((await call(method, `/${id}`, body)).status).toBe(404);
});

test('listing goes newest first through pages, each template once', async () => {
  const { key } = await workspace();
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1)
    ids.push((await create({ name: `t${index}`, html: 'x' }, key)).body.id);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await call('GET', `?limit=2${cursor && `&cursor=${cursor}`}`, undefined, key);
    expect(body.data.length).toBeLessThanOrEqual(2);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
  }
  expect(seen).toEqual(ids.toReversed());
});

test('pages of large templates are shorter, and none is left out', async () => {
  const { key } = await workspace();
  for (let index = 0; index < 6; index += 1)
    await create({ name: `t${index}`, html: 'x'.repeat(1_000_000), text: 'y'.repeat(500_000) }, key);
  const first = await call('GET', '', undefined, key);
  expect(first.body.data.map(({ name }: { name: string }) => name)).toEqual(['t5', 't4']);
  const second = await call('GET', `?cursor=${first.body.nextCursor}`, undefined, key);
  const third = await call('GET', `?cursor=${second.body.nextCursor}`, undefined, key);
  expect(third.body).toMatchObject({ data: [{ name: 't1' }, { name: 't0' }], nextCursor: null });
});

test('a workspace has at most 1,000 templates', async () => {
  const { key, workspaceId } = await workspace();
  const at = new Date();
  const rows = Array.from({ length: 999 }, (_, index) => [
    newUuid(at),
    idToBytes(workspaceId),
    Buffer.from(`t${index}`),
    'html',
    'x',
    '',
    at,
    at,
  ]);
  await query(
    'INSERT INTO email_templates (id, workspace_id, name, format, html, text, created_at, updated_at) VALUES ?',
    [rows],
  );
  const answers = await Promise.all(['a', 'b', 'c'].map((name) => create({ name, html: 'x' }, key)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  expect(answers.filter(({ status }) => status === 409).map(({ body }) => codeOf(body))).toEqual(
    Array(2).fill('limit_exceeded'),
  );
});
