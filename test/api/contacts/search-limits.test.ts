import { beforeAll, expect, test } from 'vitest';
import { processlist } from '../../../shared/db/client/time-limit.ts';
import { query } from '../../../shared/db/client.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { makeContacts } from '../../support/data/address-book.ts';
import { workspace } from '../../support/data/factory.ts';
import { countOf } from '../../support/database/counts.ts';
import { useDatabase } from '../../support/database/database.ts';
import { lockTable } from '../../support/database/lock-table.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
const permits = 2;

beforeAll(async () => {
  changeSettings({ CONTACT_SEARCHES_AT_ONCE: permits });
  api = await startApi();
  own = await workspace();
  await makeContacts(own, 10, { firstName: 'Ada' });
});

const search = (key = own.key) => api.request('GET', '/v2/contacts?search=ada', { key });

/** Locks the table, so that every search for a contact waits until it is released. */
const holdContacts = () => lockTable('contacts');

const held = async () => {
  const [row] = await query(
    `SELECT COUNT(*) AS n FROM ${processlist} WHERE db = DATABASE() AND state LIKE 'Waiting for table%'`,
  );
  return Number(row!['n']);
};

// Shows A61
test('of more searches at once than a workspace may have, some wait, and are refused with 429 in the end', async () => {
  changeSettings({ CONTACT_SEARCH_SECONDS: 60 });
  const release = await holdContacts();
  const taken = Array.from({ length: permits }, () => search());
  await waitFor('all permits are taken', async () => (await held()) === permits);
  const refused = await search();
  expect(refused.status).toBe(429);
  expect(refused.body.type).toBe(`${api.url}/problems/rate_limited`);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  // A request without a search does not wait for these searches, and neither does another workspace.
  const tags = await api.request('GET', '/v2/contacts/tags', { key: own.key });
  expect(tags.status).toBe(200);
  const others = search((await workspace()).key);
  await waitFor('the search of another workspace goes on', async () => (await held()) === permits + 1);
  const next = search();
  await release();
  for (const answer of await Promise.all([...taken, next])) expect(answer.body.data).toHaveLength(10);
  expect((await others).body.data).toEqual([]);
});

// Shows A61
test('a search that takes too long is ended by the server, and is told so', async () => {
  changeSettings({ CONTACT_SEARCH_SECONDS: 0.5 });
  const release = await holdContacts();
  const answer = await search();
  expect(answer.status).toBe(503);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  // The statements end although the table is still locked.
  await waitFor('no statement of it is left', async () => (await held()) === 0);
  await release();
  changeSettings({ CONTACT_SEARCH_SECONDS: 60 });
  expect((await search()).status).toBe(200);
});

// Shows A61
test('a search whose caller has hung up is ended by the server, and leaves room for others', async () => {
  changeSettings({ CONTACT_SEARCH_SECONDS: 60 });
  const abandoned = () => countOf('contact_searches_ended{reason="abandoned"}');
  const before = await abandoned();
  const release = await holdContacts();
  const caller = new AbortController();
  const gone = Array.from({ length: permits }, () =>
    fetch(`${api.url}/v2/contacts?search=ada`, {
      headers: { authorization: `Bearer ${own.key}` },
      signal: caller.signal,
    }).catch((error: Error) => error.name),
  );
  await waitFor('all permits are taken', async () => (await held()) === permits);
  caller.abort();
  expect(await Promise.all(gone)).toEqual(gone.map(() => 'AbortError'));
  await waitFor('they have been given up', async () => (await abandoned()) === before + permits);
  // The statements end although the table is still locked.
  await waitFor('no statement of theirs is left', async () => (await held()) === 0);
  await release();
  expect((await search()).body.data).toHaveLength(10);
});
