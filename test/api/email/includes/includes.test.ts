import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { idToBytes, newUuid } from '../../../../shared/formats/ids.ts';
import { codeOf } from '../../../support/api/contract.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { mjmlDocument } from '../../../support/data/mjml.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const path = '/v2/email/includes';
const save = (name: string, content: string, key = own.key) =>
  api.request('PUT', `${path}/${name}`, { key, body: { content } });
const call = (method: string, name: string, key = own.key) => api.request(method, `${path}/${name}`, { key });
const include = (...names: string[]) => names.map((name) => `<mj-include path="${name}" />`).join('');
const createTemplate = (html: string, name: string) =>
  api.request('POST', '/v2/email/templates', { key: own.key, body: { name, format: 'mjml', html } });

test('an include is created with 201, replaced with 200 under the same id, and found by its name', async () => {
  const created = await save('footer', '<mj-text>1</mj-text>');
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    id: expect.stringMatching(/^include_/),
    name: 'footer',
    content: '<mj-text>1</mj-text>',
    createdAt: expect.any(String),
    updatedAt: created.body.createdAt,
  });
  expect(created.headers['location']).toBe(`${api.url}${path}/footer`);
  await advanceClock(1_000);
  const same = await save('footer', '<mj-text>1</mj-text>');
  expect([same.status, same.body]).toEqual([200, created.body]);
  const replaced = await save('footer', '<mj-text>2</mj-text>');
  expect(replaced.status).toBe(200);
  expect(replaced.headers['location']).toBeUndefined();
  expect(replaced.body).toEqual({
    ...created.body,
    content: '<mj-text>2</mj-text>',
    updatedAt: replaced.body.updatedAt,
  });
  expect(replaced.body.updatedAt > created.body.updatedAt).toBe(true);
  const found = await call('GET', 'footer');
  expect([found.status, found.body]).toEqual([200, replaced.body]);
});

test('a name that cannot be is told of together with the fault of the content', async () => {
  const { status, body } = await save('a%20b', include('none'));
  expect([status, Object.keys(body.errors).toSorted()]).toEqual([400, ['content', 'name']]);
});

test('names compare as bytes, and others than those of templates are none', async () => {
  await save('Header', 'A');
  await save('header', 'B');
  expect([(await call('GET', 'Header')).body.content, (await call('GET', 'header')).body.content]).toEqual([
    'A',
    'B',
  ]);
  for (const name of ['a.b', 'a%20b', '%2e%2e%2fa', 'a'.repeat(65), '%00'])
    expect([(await call('GET', name)).status, (await save(name, 'x')).body.errors]).toEqual([
      404,
      { name: [expect.stringMatching(/^must be /)] },
    ]);
});

test('content is up to 100,000 characters, and may be empty', async () => {
  expect((await save('long', '😀'.repeat(100_000))).status).toBe(201);
  expect(Object.keys((await save('long', 'x'.repeat(100_001))).body.errors)).toEqual(['content']);
  expect((await save('empty', '')).status).toBe(201);
});

// Shows A36
test('a cycle, a sixth level and an unknown name are refused, and change nothing', async () => {
  await save('e1', 'x');
  for (let level = 2; level <= 5; level += 1)
    expect((await save(`e${level}`, include(`e${level - 1}`))).status).toBe(201);
  const errors = async (name: string, content: string) => (await save(name, content)).body.errors?.content;
  expect(await errors('e6', include('e5'))).toEqual([
    expect.stringContaining('nested more than 5 levels deep'),
  ]);
  // A sixth level is also refused at the bottom, below the five that exist.
  await save('other', 'x');
  expect(await errors('e1', include('other'))).toEqual(['would nest includes more than 5 levels deep']);
  expect(await errors('e1', include('e5'))).toEqual([expect.stringContaining('includes itself')]);
  expect(await errors('e1', include('e1'))).toEqual([
    'has a fault: the include e1 includes itself (line 1, column 1)',
  ]);
  expect(await errors('new', include('new'))).toEqual([
    'has a fault: the include new includes itself (line 1, column 1)',
  ]);
  expect(await errors('e1', `\n${include('nothing')}`)).toEqual([
    'has a fault: there is no include named nothing (line 2, column 1)',
  ]);
  expect((await call('GET', 'e1')).body.content).toBe('x');
  expect((await call('GET', 'new')).status).toBe(404);
});

// Shows A36
test('two requests at once cannot close a cycle together', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [a, b] = [`a${round}`, `b${round}`];
    await save(a, 'x');
    await save(b, 'x');
    const answers = await Promise.all([save(a, include(b)), save(b, include(a))]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
  }
});

test('an include stays while a template uses it, directly or through others', async () => {
  await save('leaf', '<mj-section></mj-section>');
  await save('branch', include('leaf'));
  await save('unused', include('leaf'));
  const { body } = await createTemplate(mjmlDocument(include('branch')), 'tree');
  for (const name of ['leaf', 'branch']) {
    const refused = await call('DELETE', name);
    expect([refused.status, codeOf(refused.body), refused.body.detail]).toEqual([
      409,
      'in_use',
      'The template tree uses this include, directly or through another include. Change or delete the template first.',
    ]);
  }
  expect((await call('DELETE', 'unused')).status).toBe(204);
  const template = `/v2/email/templates/${body.id}`;
  const unlinked = { html: mjmlDocument('<mj-section></mj-section>') };
  expect((await api.request('PATCH', template, { key: own.key, body: unlinked })).status).toBe(200);
  expect((await call('DELETE', 'branch')).status).toBe(204);
  await createTemplate(mjmlDocument(include('leaf')), 'tree2');
  expect((await call('DELETE', 'leaf')).status).toBe(409);
  const { body: page } = await api.request('GET', '/v2/email/templates', { key: own.key });
  const tree2 = page.data.find(({ name }: { name: string }) => name === 'tree2');
  await api.request('DELETE', `/v2/email/templates/${tree2.id}`, { key: own.key });
  expect((await call('DELETE', 'leaf')).status).toBe(204);
  expect((await call('DELETE', 'leaf')).status).toBe(404);
});

test('a template cannot come to use an include that is being deleted', async () => {
  for (let round = 0; round < 5; round += 1) {
    await save(`fleeting${round}`, '<mj-section></mj-section>');
    const [made, removed] = await Promise.all([
      createTemplate(mjmlDocument(include(`fleeting${round}`)), `round${round}`),
      call('DELETE', `fleeting${round}`),
    ]);
    expect([
      [201, 409],
      [400, 204],
    ]).toContainEqual([made.status, removed.status]);
  }
});

test('includes of another workspace are unknown', async () => {
  const other = await workspace();
  await save('theirs', '<mj-section></mj-section>', other.key);
  expect((await call('GET', 'theirs')).status).toBe(404);
  expect((await createTemplate(mjmlDocument(include('theirs')), 'thief')).status).toBe(400);
  expect((await call('DELETE', 'theirs')).status).toBe(404);
  expect((await call('GET', 'theirs', other.key)).status).toBe(200);
});

test('listing goes newest first; a replaced include keeps its place, and pages of large ones are shorter', async () => {
  const { key } = await workspace();
  for (let index = 0; index < 12; index += 1) await save(`i${index}`, '😀'.repeat(100_000), key);
  await save('i0', 'new', key);
  const names: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages += 1) {
    const { body } = await api.request('GET', `${path}?limit=200${cursor && `&cursor=${cursor}`}`, { key });
    names.push(...body.data.map(({ name }: { name: string }) => name));
    cursor = body.nextCursor;
  }
  expect(names).toEqual(Array.from({ length: 12 }, (_, index) => `i${11 - index}`));
  expect(pages).toBe(2);
});

test('a workspace has at most 200 includes; one more can be replaced, not made', async () => {
  const { key, workspaceId } = await workspace();
  const at = new Date();
  const rows = Array.from({ length: 200 }, (_, index) => [
    newUuid(at),
    idToBytes(workspaceId),
    Buffer.from(`i${index}`),
    'x',
    at,
    at,
  ]);
  await query(
    'INSERT INTO email_includes (id, workspace_id, name, content, created_at, updated_at) VALUES ?',
    [rows],
  );
  const refused = await save('another', 'x', key);
  expect([refused.status, codeOf(refused.body)]).toEqual([409, 'limit_exceeded']);
  expect((await save('i7', 'y', key)).status).toBe(200);
});
