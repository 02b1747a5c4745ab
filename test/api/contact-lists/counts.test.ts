import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as contactLists from '../../../shared/domain/contact-lists/contact-lists.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { makeContacts } from '../../support/data/address-book.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const path = '/v2/contact-lists';
type Own = Awaited<ReturnType<typeof workspace>>;
const call = (own: Own, method: string, at: string, body?: object) =>
  api.request(method, path + at, { key: own.key, ...(body && { body }) });
/** Makes the counts of all lists this many milliseconds old. */
const age = (own: Own, ms: number) =>
  query('UPDATE contact_lists SET counted_at = ? WHERE workspace_id = ? AND counted_at IS NOT NULL', [
    new Date(now().getTime() - ms),
    idToBytes(own.workspaceId),
  ]);
const dynamic = async (own: Own, search: string) =>
  (await call(own, 'POST', '', { name: search, kind: 'dynamic', filter: { search } })).body;

// Shows A62
test('the listing reads no contacts, however many lists find however many of them', async () => {
  const own = await workspace();
  await makeContacts(own, 3_000, { firstName: 'Ada', company: 'Analytical Engines Works' });
  for (let index = 0; index < 20; index += 1)
    await dynamic(own, `ada ${'analytical engines works'.slice(0, 1 + index)}`);
  await age(own, 3_600_000);
  const list = () => contactLists.list(callerOf(own), { limit: 50 });
  // The first listing also has the lists counted: a few statements about twenty rows.
  expect(await rowsRead(list)).toBeLessThan(500);
  expect(await rowsRead(list)).toBeLessThan(300);
});

test('a list says how old its count is; to get it counts anew, and the listing then shows that', async () => {
  const own = await workspace();
  await makeContacts(own, 3, { firstName: 'Ada' });
  const made = await dynamic(own, 'ada');
  expect(made.contactCount).toBe(3);
  await makeContacts(own, 2, { firstName: 'Ada' });
  await age(own, 10_000);
  const listed = async () => (await call(own, 'GET', '')).body.data[0];
  const old = await listed();
  expect(old).toEqual({ ...made, contactCountAt: expect.any(String) });
  const got = (await call(own, 'GET', `/${made.id}`)).body;
  expect(got.contactCount).toBe(5);
  expect(Date.parse(got.contactCountAt)).toBeGreaterThanOrEqual(Date.parse(old.contactCountAt) + 10_000);
  expect(await listed()).toEqual(got);
});

test('static lists and the built-in one have no age: their counts are exact', async () => {
  const own = await workspace();
  const ids = await makeContacts(own, 2);
  const { body } = await call(own, 'POST', '', { name: 'Friends' });
  await call(own, 'POST', `/${body.id}/contacts`, { contactIds: ids });
  expect((await call(own, 'GET', '')).body.data).toMatchObject([
    { kind: 'static', contactCount: 2, contactCountAt: null },
    { kind: 'builtin', contactCount: 2, contactCountAt: null },
  ]);
});

test('to want counts waits for nobody who counts a list', async () => {
  const own = await workspace();
  const [one, other] = [await dynamic(own, 'ada'), await dynamic(own, 'eve')];
  await age(own, 3_600_000);
  const wanted = async () =>
    query('SELECT id FROM contact_lists WHERE workspace_id = ? AND count_wanted_at IS NOT NULL', [
      idToBytes(own.workspaceId),
    ]);
  await transaction(async () => {
    await query('SELECT id FROM contact_lists WHERE id = ? FOR UPDATE', [idToBytes(one.id)]);
    const answer = await call(own, 'GET', '');
    expect(answer.body.data).toHaveLength(3);
  });
  expect((await wanted()).map((row) => row['id'])).toEqual([idToBytes(other.id)]);
  await call(own, 'GET', '');
  expect(await wanted()).toHaveLength(2);
});

test('a preview of more than are counted while it waits gives an estimate, and says so', async () => {
  const own = await workspace();
  const firstName = 'y'.repeat(60);
  await makeContacts(own, 4_500, { firstName });
  const { body } = await call(own, 'POST', '/preview', { filter: { search: firstName } });
  expect(body.estimated).toBe(true);
  expect(body.count).toBeGreaterThan(3_000);
  expect(body.contacts).toHaveLength(10);
});
