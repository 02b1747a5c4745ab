import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { holdContact, makeContacts, memberRowsOf } from '../../support/data/address-book.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  // As long as a test may last; the copies here end sooner.
  changeSettings({ LIST_COPY_WAIT_SECONDS: 60 });
  api = await startApi();
  own = await workspace();
  await runWorkers(['copy-contacts', 'sweep']);
});

const path = '/v2/contact-lists';
const call = (method: string, at: string, body?: object, headers: Record<string, string> = {}) =>
  api.request(method, path + at, { key: own.key, headers, ...(body && { body }) });
const listOf = async (contactIds: string[] = []): Promise<string> => {
  const { id } = (await call('POST', '', { name: 'A list' })).body;
  if (contactIds.length > 0) await call('POST', `/${id}/contacts`, { contactIds });
  return id;
};
const dynamic = async (filter: object): Promise<string> =>
  (await call('POST', '', { name: 'Dynamic', kind: 'dynamic', filter })).body.id;
const copy = (into: string, body: object, headers?: Record<string, string>) =>
  call('POST', `/${into}/contacts`, body, headers);
const listed = async (id: string) => (await call('GET', `/${id}`)).body;

const hold = (contactId: string) => holdContact(own, contactId);

test('members of several lists are copied once; one in two of them is added, then skipped', async () => {
  const ids = await makeContacts(own, 6);
  const [one, two] = [await listOf(ids.slice(0, 4)), await listOf(ids.slice(2, 5))];
  const into = await listOf(ids.slice(0, 1));
  const answer = await copy(into, { fromLists: [one, two, two] });
  expect([answer.status, answer.body]).toEqual([200, { added: 4, skipped: 3 }]);
  expect(await memberRowsOf(into)).toEqual(ids.slice(0, 5));
  expect(await listed(into)).toMatchObject({ contactCount: 5, copyInProgress: false });
  await call('POST', `/${one}/contacts`, { contactIds: ids.slice(5) });
  expect((await listed(into)).contactCount).toBe(5);
});

test('filters choose among the members, and excluded lists of any kind are left out without being counted', async () => {
  const ada = await makeContacts(own, 3, { firstName: 'Ada', clientReference: 'a' });
  const adam = await makeContacts(own, 2, { firstName: 'Adam', company: 'Left Out' });
  const eve = await makeContacts(own, 2, { firstName: 'Eve' });
  const all = await listOf([...ada, ...adam, ...eve]);
  const copied = async (body: object) => {
    const into = await listOf();
    const answer = await copy(into, { fromLists: [all], ...body });
    expect(answer.status).toBe(200);
    const members = await memberRowsOf(into);
    expect(answer.body).toEqual({ added: members.length, skipped: 0 });
    return members;
  };
  expect(await copied({ search: 'ada' })).toEqual([...ada, ...adam]);
  expect(await copied({ search: 'ada', clientReference: 'a' })).toEqual(ada);
  expect(await copied({ tag: 'nobody' })).toEqual([]);
  const [some, leftOut] = [await listOf(ada.slice(0, 2)), await dynamic({ search: 'left' })];
  expect(await copied({ excludeLists: [some, leftOut] })).toEqual([...ada.slice(2), ...eve]);
  const { data } = (await call('GET', '?limit=200')).body;
  expect(await copied({ excludeLists: [data.at(-1).id] })).toEqual([]);
});

test('dynamic lists and the built-in one are copied as they are', async () => {
  const ids = await makeContacts(own, 2, { company: 'Copied Ltd' });
  const into = await listOf();
  const answer = await copy(into, { fromLists: [await dynamic({ search: 'copied' })] });
  expect([answer.status, answer.body]).toEqual([200, { added: 2, skipped: 0 }]);
  expect(await memberRowsOf(into)).toEqual(ids);
  const builtin = (await call('GET', '?limit=200')).body.data.at(-1);
  const all = await copy(into, { fromLists: [builtin.id] });
  expect(all.body).toEqual({ added: builtin.contactCount - 2, skipped: 2 });
  expect(await listed(into)).toMatchObject({ contactCount: builtin.contactCount });
});

// Shows A2
test('an unknown list and one of another workspace are refused at their place, as sources and as exclusions', async () => {
  const other = await workspace();
  const [foreign] = await makeContacts(other, 1);
  const made = await api.request('POST', path, { key: other.key, body: { name: 'Theirs' } });
  const theirs = made.body.id;
  await api.request('POST', `${path}/${theirs}/contacts`, {
    key: other.key,
    body: { contactIds: [foreign] },
  });
  const ids = await makeContacts(own, 1);
  const into = await listOf();
  const mine = await listOf(ids);
  const unknown = newId('list', new Date());
  const { status, body } = await copy(into, {
    fromLists: [theirs, mine, unknown],
    excludeLists: [mine, 'nonsense', theirs],
  });
  const message = ['is not the id of a list of this workspace'];
  expect([status, body.errors]).toEqual([
    400,
    {
      'fromLists[0]': message,
      'fromLists[2]': message,
      'excludeLists[1]': message,
      'excludeLists[2]': message,
    },
  ]);
  expect(await memberRowsOf(into)).toEqual([]);
});

test('of two copies into one list at once one is refused; contacts that are named are added all the same', async () => {
  const ids = await makeContacts(own, 3);
  const [source, into] = [await listOf(ids), await listOf()];
  const release = await hold(ids[0]!);
  const both = [1, 2].map(() => copy(into, { fromLists: [source] }));
  // The refused copy does not wait for the other copy, which waits for the locked contact.
  const refused = await Promise.race(both);
  expect([refused.status, refused.body.type]).toEqual([409, `${api.url}/problems/list_copy_in_progress`]);
  expect((await listed(into)).copyInProgress).toBe(true);
  const named = await call('POST', `/${into}/contacts`, { contactIds: ids.slice(2) });
  expect([named.status, named.body]).toEqual([200, { added: 1, skipped: 0 }]);
  await release();
  const outcomes = await Promise.all(both);
  expect(outcomes.filter(({ status }) => status === 409)).toHaveLength(1);
  expect(outcomes.find(({ status }) => status === 200)!.body).toEqual({ added: 2, skipped: 1 });
  expect(await memberRowsOf(into)).toEqual(ids);
  expect(await listed(into)).toMatchObject({ copyInProgress: false, contactCount: 3 });
  expect((await copy(into, { fromLists: [source] })).body).toEqual({ added: 0, skipped: 3 });
});

test('under an Idempotency-Key the answer of the whole copy is kept; until then the key is in progress', async () => {
  const ids = await makeContacts(own, 4);
  const [source, into] = [await listOf(ids), await listOf()];
  const headers = { 'Idempotency-Key': 'copy-once' };
  const body = { fromLists: [source] };
  // The request has committed and waits for the copy, which waits for the locked contact.
  const release = await hold(ids[0]!);
  const first = copy(into, body, headers);
  await waitFor('the copy is in progress', async () => (await listed(into)).copyInProgress);
  const meanwhile = await copy(into, body, headers);
  expect(meanwhile.body.type).toBe(`${api.url}/problems/idempotency_in_progress`);
  await release();
  const answer = await first;
  expect([answer.status, answer.body]).toEqual([200, { added: 4, skipped: 0 }]);
  const again = await copy(into, body, headers);
  expect([again.status, again.body, again.headers['idempotent-replayed']]).toEqual([
    200,
    answer.body,
    'true',
  ]);
});
