import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { makeContacts, memberRowsOf } from '../../support/data/address-book.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const path = '/v2/contact-lists';
const call = (method: string, at: string, body?: object, key = own.key) =>
  api.request(method, path + at, { key, ...(body && { body }) });
const newList = async (key = own.key): Promise<string> =>
  (await call('POST', '', { name: 'A list' }, key)).body.id;
const countOf = async (id: string) => (await call('GET', `/${id}`)).body.contactCount;

// Shows A2
test('named contacts are added once; members, strangers, unknown and repeated ids are skipped', async () => {
  const list = await newList();
  const [first, second, third] = (await makeContacts(own, 3)) as [string, string, string];
  const other = await workspace();
  const [foreign] = await makeContacts(other, 1);
  const before = await call('POST', `/${list}/contacts`, { contactIds: [first] });
  expect([before.status, before.body]).toEqual([200, { added: 1, skipped: 0 }]);
  const unknown = [foreign, newId('contact', new Date()), 'nonsense', '', list];
  const answer = await call('POST', `/${list}/contacts`, {
    contactIds: [third, first, second, ...unknown, second],
  });
  expect([answer.status, answer.body]).toEqual([200, { added: 2, skipped: 7 }]);
  expect(await memberRowsOf(list)).toEqual([first, second, third]);
  expect(await countOf(list)).toBe(3);
});

test('members come newest first, on pages', async () => {
  const list = await newList();
  const ids = await makeContacts(own, 5);
  await call('POST', `/${list}/contacts`, { contactIds: ids });
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await call('GET', `/${list}/contacts?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.body.data.map(({ id }: { id: string }) => id));
    cursor = page.body.nextCursor;
  }
  expect(seen).toEqual(ids.toReversed());
  const { nextCursor } = (await call('GET', `/${list}/contacts?limit=2`)).body;
  const elsewhere = await call('GET', `/${await newList()}/contacts?limit=2&cursor=${nextCursor}`);
  expect([elsewhere.status, Object.keys(elsewhere.body.errors)]).toEqual([400, ['cursor']]);
});

test('removal tells how many were members, and keeps the contacts', async () => {
  const list = await newList();
  const [first, second, third] = (await makeContacts(own, 3)) as [string, string, string];
  await call('POST', `/${list}/contacts`, { contactIds: [first, second] });
  const answer = await call('DELETE', `/${list}/contacts`, {
    contactIds: [first, first, third, 'nonsense', newId('contact', new Date())],
  });
  expect([answer.status, answer.body]).toEqual([200, { removed: 1 }]);
  expect(await memberRowsOf(list)).toEqual([second]);
  expect(await countOf(list)).toBe(1);
  expect((await api.request('GET', `/v2/contacts/${first}`, { key: own.key })).status).toBe(200);
});

test('ten thousand contacts are added and removed in one request each', async () => {
  const list = await newList();
  const contactIds = await makeContacts(own, 10_000);
  const added = await call('POST', `/${list}/contacts`, { contactIds });
  expect([added.status, added.body]).toEqual([200, { added: 10_000, skipped: 0 }]);
  const removed = await call('DELETE', `/${list}/contacts`, { contactIds });
  expect([removed.status, removed.body]).toEqual([200, { removed: 10_000 }]);
  expect(await countOf(list)).toBe(0);
});

test('requests that add and remove the same contacts at once leave a count that is right', async () => {
  const list = await newList();
  const ids = await makeContacts(own, 40);
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      call(index % 3 === 2 ? 'DELETE' : 'POST', `/${list}/contacts`, {
        contactIds: index % 2 === 0 ? ids : ids.toReversed().slice(0, 25),
      }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const sum = answers.reduce((total, { body }) => total + (body.added ?? 0) - (body.removed ?? 0), 0);
  expect(await countOf(list)).toBe(sum);
  expect((await memberRowsOf(list)).length).toBe(sum);
});

const someId = newId('contact', new Date());
const someList = '<a list>';

test.each([
  [{}, ['contactIds', 'fromLists']],
  [{ contactIds: null, fromLists: null }, ['contactIds', 'fromLists']],
  [{ tag: 'a', excludeLists: [someList] }, ['contactIds', 'fromLists']],
  [{ contactIds: [] }, ['contactIds']],
  [{ fromLists: [] }, ['fromLists']],
  [{ contactIds: Array.from({ length: 10_001 }, () => someId) }, ['contactIds']],
  [{ contactIds: [7] }, ['contactIds[0]']],
  [{ fromLists: someList }, ['fromLists']],
  [{ fromLists: [someList], excludeLists: [null] }, ['excludeLists[0]']],
  [{ fromLists: [someList], search: 'x'.repeat(201) }, ['search']],
  [{ contactIds: [someId], fromLists: [someList] }, ['fromLists']],
  [{ contactIds: [someId], excludeLists: [] }, ['excludeLists']],
  [
    { contactIds: [someId], search: 'a', tag: 'b', clientReference: 'c' },
    ['search', 'tag', 'clientReference'],
  ],
])('an addition that is not valid is refused, naming the field (%#)', async (body, fields) => {
  const list = await newList();
  const named = JSON.parse(JSON.stringify(body).replaceAll(someList, await newList()));
  const answer = await call('POST', `/${list}/contacts`, named);
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, fields]);
});

test.each([[{}], [{ contactIds: [] }], [{ contactIds: 'all' }]])(
  'a removal of %j is refused, naming the field',
  async (body) => {
    const answer = await call('DELETE', `/${await newList()}/contacts`, body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['contactIds']]);
  },
);
