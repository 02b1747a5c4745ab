import { beforeAll, expect, test } from 'vitest';
import routes from '../../../api/routes/contact-lists.ts';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { purge } from '../../../shared/domain/operations/retention.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { scopes } from '../../../shared/schemas/scopes.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { makeContacts, memberRowsOf, newNumber } from '../../support/data/address-book.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  changeSettings({ LIST_COPY_WAIT_SECONDS: 0 });
  api = await startApi();
  own = await workspace();
});

const path = '/v2/contact-lists';
const call = (method: string, at: string, body?: object, key = own.key) =>
  api.request(method, path + at, { key, ...(body && { body }) });
const create = (body: object, key = own.key) => call('POST', '', body, key);
const builtinOf = async (key: string) => (await call('GET', '?limit=200', undefined, key)).body.data.at(-1);

test('a static list is made and found again', async () => {
  const answer = await create({ name: 'Friends', description: 'Of mine\nand yours' });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^list_/),
    name: 'Friends',
    description: 'Of mine\nand yours',
    kind: 'static',
    filter: null,
    contactCount: 0,
    contactCountAt: null,
    copyInProgress: false,
    createdAt: expect.any(String),
    updatedAt: answer.body.createdAt,
  });
  expect(answer.headers['location']).toBe(`${api.url}${path}/${answer.body.id}`);
  expect((await call('GET', `/${answer.body.id}`)).body).toEqual(answer.body);
});

test('a dynamic list holds what matches its filter now, and follows a change of it', async () => {
  const other = await workspace();
  const [ada] = await makeContacts(other, 1, { firstName: 'Ada' });
  const filter = { search: 'ada', tag: '  ' };
  const list = (await create({ name: 'A', kind: 'dynamic', filter }, other.key)).body;
  expect(list).toMatchObject({
    kind: 'dynamic',
    contactCount: 1,
    contactCountAt: expect.any(String),
    filter: { search: 'ada', tag: null, clientReference: null },
  });
  const [second] = await makeContacts(other, 1, { firstName: 'Adam' });
  await makeContacts(other, 1, { firstName: 'Eve', clientReference: 'e-1' });
  const at = `/${list.id}`;
  expect((await call('GET', at, undefined, other.key)).body.contactCount).toBe(2);
  const first = await call('GET', `${at}/contacts?limit=1`, undefined, other.key);
  const next = await call(
    'GET',
    `${at}/contacts?limit=1&cursor=${first.body.nextCursor}`,
    undefined,
    other.key,
  );
  expect([...first.body.data, ...next.body.data].map(({ id }) => id)).toEqual([second, ada]);
  expect(next.body.nextCursor).toBeNull();
  const changed = await call('PATCH', at, { filter: { clientReference: 'e-1' } }, other.key);
  expect(changed.body).toMatchObject({
    contactCount: 1,
    filter: { search: null, tag: null, clientReference: 'e-1' },
  });
});

test('a preview shows the newest ten and counts all', async () => {
  const other = await workspace();
  const ids = await makeContacts(other, 12, { company: 'Preview Ltd' });
  const answer = await call('POST', '/preview', { filter: { search: 'previ' } }, other.key);
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ count: 12, estimated: false });
  expect(answer.body.contacts.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed().slice(0, 10));
  expect(answer.body.contacts[0]).toMatchObject({ company: 'Preview Ltd', suppressed: false, tags: [] });
  const none = await call('POST', '/preview', { filter: { tag: 'nobody' } }, other.key);
  expect(none.body).toEqual({ count: 0, estimated: false, contacts: [] });
});

test.each([
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ name: 'a\u0000b' }, 'name'],
  [{ name: 'A', description: 'x'.repeat(501) }, 'description'],
  [{ name: 'A', kind: 'builtin' }, 'kind'],
  [{ name: 'A', kind: 'dynamic' }, 'filter'],
  [{ name: 'A', kind: 'dynamic', filter: {} }, 'filter'],
  [{ name: 'A', kind: 'dynamic', filter: { search: ' ', tag: null } }, 'filter'],
  [{ name: 'A', kind: 'dynamic', filter: { tag: 7 } }, 'filter.tag'],
  [{ name: 'A', kind: 'static', filter: { tag: 'a' } }, 'filter'],
  [{ name: 'A', filter: { tag: 'a' } }, 'filter'],
])('a list like %j is refused, naming the field', async (body, field) => {
  const answer = await create(body);
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
});

test.each([[{}], [{ filter: {} }], [{ filter: { search: '' } }]])(
  'a preview of %j is refused',
  async (body) => {
    const answer = await call('POST', '/preview', body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['filter']]);
  },
);

test('a change keeps what it leaves out or gives as null; an empty description clears', async () => {
  const { body: made } = await create({ name: 'Before', description: 'Text' });
  const at = `/${made.id}`;
  const same = await call('PATCH', at, { name: null, description: null, kind: null });
  expect([same.status, same.body]).toEqual([200, made]);
  expect((await call('PATCH', at, { kind: 'static' })).body).toEqual(made);
  const cleared = await call('PATCH', at, { name: 'After', description: '' });
  expect(cleared.body).toMatchObject({ name: 'After', description: null, kind: 'static' });
  for (const [body, field] of [
    [{ name: '' }, 'name'],
    [{ filter: { tag: 'a' } }, 'filter'],
    [{ kind: 'dynamic' }, 'kind'],
    [{ kind: 'builtin' }, 'kind'],
  ] as const) {
    const answer = await call('PATCH', at, body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
  }
});

test('all that is wrong with a change is told at once', async () => {
  const { id } = (await create({ name: 'Static' })).body;
  const dynamic = (await create({ name: 'Dynamic', kind: 'dynamic', filter: { tag: 'a' } })).body;
  for (const [at, body, fields] of [
    [id, { kind: 'dynamic', filter: { tag: 'a' } }, ['filter', 'kind']],
    [id, { name: '', kind: 'dynamic' }, ['kind', 'name']],
    [dynamic.id, { kind: 'static', filter: {} }, ['filter', 'kind']],
    [dynamic.id, { name: '', kind: 'static', filter: {} }, ['filter', 'kind', 'name']],
  ] as const) {
    const { status, body: answer } = await call('PATCH', `/${at}`, body);
    expect([status, Object.keys(answer.errors).toSorted()]).toEqual([400, fields]);
  }
});

test('the listing is newest first and ends with the built-in list, on pages of any size', async () => {
  const other = await workspace();
  const ids: string[] = [];
  for (const name of ['One', 'Two', 'Three']) ids.unshift((await create({ name }, other.key)).body.id);
  ids.push((await builtinOf(other.key)).id);
  for (const limit of [1, 2, 3, 4, 5]) {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await call('GET', `?limit=${limit}${cursor && `&cursor=${cursor}`}`, undefined, other.key);
      expect(page.body.data.length).toBeGreaterThan(0);
      seen.push(...page.body.data.map(({ id }: { id: string }) => id));
      cursor = page.body.nextCursor;
    }
    expect(seen).toEqual(ids);
  }
  const { nextCursor } = (await call('GET', '?limit=1', undefined, other.key)).body;
  expect((await call('GET', `?limit=1&cursor=${nextCursor}`)).body.errors).toHaveProperty('cursor');
});

test('the built-in list is always there, holds all contacts, and cannot be changed', async () => {
  const other = await workspace();
  const builtin = await builtinOf(other.key);
  expect(builtin).toMatchObject({ name: 'All contacts', kind: 'builtin', filter: null, contactCount: 0 });
  const ids = await makeContacts(other, 2);
  const at = `/${builtin.id}`;
  expect((await call('GET', at, undefined, other.key)).body).toEqual({ ...builtin, contactCount: 2 });
  const members = await call('GET', `${at}/contacts`, undefined, other.key);
  expect(members.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
  const refused = [
    await call('PATCH', at, { name: 'Mine' }, other.key),
    await call('DELETE', at, undefined, other.key),
    await call('POST', `${at}/contacts`, { contactIds: ids }, other.key),
    await call('DELETE', `${at}/contacts`, { contactIds: ids }, other.key),
  ];
  for (const { status, body } of refused)
    expect([status, body.type]).toEqual([409, `${api.url}/problems/list_not_static`]);
});

test('a dynamic list takes and gives up no contacts by name', async () => {
  const [contact] = await makeContacts(own, 1);
  const { id } = (await create({ name: 'D', kind: 'dynamic', filter: { tag: 'x' } })).body;
  for (const [method, body] of [
    ['POST', { contactIds: [contact] }],
    ['POST', { fromLists: [id] }],
    ['DELETE', { contactIds: [contact] }],
  ] as const) {
    const answer = await call(method, `/${id}/contacts`, body);
    expect([answer.status, answer.body.type]).toEqual([409, `${api.url}/problems/list_not_static`]);
  }
});

test('a deleted list is gone with its memberships, and its contacts stay', async () => {
  const ids = await makeContacts(own, 3);
  const { id } = (await create({ name: 'Short-lived' })).body;
  await call('POST', `/${id}/contacts`, { contactIds: ids });
  expect((await call('DELETE', `/${id}`)).status).toBe(204);
  expect((await call('GET', `/${id}`)).status).toBe(404);
  expect((await call('DELETE', `/${id}`)).status).toBe(404);
  await purge();
  expect(await memberRowsOf(id)).toEqual([]);
  expect(await query('SELECT * FROM contact_list_removals')).toEqual([]);
  expect((await api.request('GET', `/v2/contacts/${ids[0]}`, { key: own.key })).status).toBe(200);
});

test('the list after the thousandth is refused, also when two are asked for at once', async () => {
  const other = await workspace();
  const time = now();
  await query('INSERT INTO contact_lists (id, workspace_id, name, kind, created_at, updated_at) VALUES ?', [
    Array.from({ length: 999 }, (_, index) => [
      idToBytes(newId('list', time)),
      idToBytes(other.workspaceId),
      `List ${index}`,
      'static',
      time,
      time,
    ]),
  ]);
  const answers = await Promise.all([1, 2, 3].map(() => create({ name: 'Last' }, other.key)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const refused = answers.filter(({ status }) => status === 409).map(({ body }) => body.type);
  expect(refused).toEqual(Array.from({ length: 2 }, () => `${api.url}/problems/limit_exceeded`));
});

const bodies: Record<string, object> = {
  createContactList: { name: 'A' },
  previewContactList: { filter: { tag: 'a' } },
  updateContactList: { name: 'B' },
  addContactListContacts: { contactIds: [newId('contact', new Date())] },
  removeContactListContacts: { contactIds: [newId('contact', new Date())] },
};

test.each(routes.map((route) => [route.id, route] as const))(
  '%s: no key, a key without a scope, and the lists of another workspace',
  async (id, route) => {
    const { id: listId } = (await create({ name: 'Mine' })).body;
    const ask = (key?: string) =>
      api.request(route.method.toUpperCase(), route.path.replace('{id}', listId), {
        ...(key && { key }),
        ...(bodies[id] && { body: bodies[id] }),
      });
    expect((await ask()).status).toBe(401);
    for (const missing of route.scopes) {
      const { key } = await workspace({ scopes: scopes.filter((scope) => scope !== missing) });
      expect((await ask(key)).status).toBe(403);
    }
    const stranger = await workspace();
    const foreign = await ask(stranger.key);
    if (route.path.includes('{id}')) expect(foreign.status).toBe(404);
    else expect(JSON.stringify(foreign.body)).not.toContain(listId);
    expect((await ask(own.key)).status).toBeLessThan(300);
  },
);

test('a contact that is erased is out of its lists, and their counts say so', async () => {
  const number = newNumber();
  const { id } = (await api.request('POST', '/v2/contacts', { key: own.key, body: { number } })).body;
  const list = (await create({ name: 'Of one' })).body;
  await call('POST', `/${list.id}/contacts`, { contactIds: [id] });
  expect((await call('GET', `/${list.id}`)).body.contactCount).toBe(1);
  await api.request('DELETE', `/v2/contacts/${id}`, { key: own.key });
  expect((await call('GET', `/${list.id}`)).body.contactCount).toBe(0);
  expect(await memberRowsOf(list.id)).toEqual([]);
});
