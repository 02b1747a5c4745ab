import { beforeAll, expect, test } from 'vitest';
import { now, nowForAll } from '../../shared/common/clock.ts';
import { query, transaction } from '../../shared/db/client.ts';
import * as counts from '../../shared/db/contact-lists/counts.system.ts';
import { claimDue } from '../../shared/db/work/due.system.ts';
import { countOn } from '../../shared/domain/contact-lists/contact-lists.ts';
import { idFromBytes, idToBytes } from '../../shared/formats/ids.ts';
import type { WorkOutcome } from '../../shared/work/outcome.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { makeContacts } from '../support/data/address-book.ts';
import { workspace } from '../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

/** Longer than the index holds: each contact that the index finds has to be compared, too many for one request. */
const firstName = 'x'.repeat(60);
const many = 4_500;

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const path = '/v2/contact-lists';
type Own = Awaited<ReturnType<typeof workspace>>;
const call = (own: Own, method: string, at: string, body?: object) =>
  api.request(method, path + at, { key: own.key, ...(body && { body }) });
const listed = async (own: Own, id: string) =>
  (await call(own, 'GET', '')).body.data.find((list: { id: string }) => list.id === id);
const hourAgo = () => new Date(now().getTime() - 3_600_000);
/** Changes the count so that it seems to be an hour old. */
const age = (id: string) =>
  query('UPDATE contact_lists SET counted_at = ?, counted_until = NULL WHERE id = ?', [
    hourAgo(),
    idToBytes(id),
  ]);
/** Ends the lease of a worker that has died. */
const endLease = (own: Own) =>
  query('UPDATE contact_list_counts SET due_at = ? WHERE workspace_id = ? AND lease_token IS NOT NULL', [
    hourAgo(),
    idToBytes(own.workspaceId),
  ]);
const claim = (own: Own, until: Date) =>
  claimDue(counts.countingTable, { id: own.workspaceId, at: nowForAll(), until });
const rowOf = async (own: Own) =>
  (await query('SELECT * FROM contact_list_counts WHERE workspace_id = ?', [idToBytes(own.workspaceId)]))[0]!;

/** Counts to the end: a turn lasts at most two seconds, so a busy machine needs several. */
async function countToTheEnd(own: Own): Promise<WorkOutcome> {
  for (;;) {
    const outcome = await countOn(own.workspaceId);
    if (typeof outcome === 'string') return outcome;
    await query('UPDATE contact_list_counts SET due_at = ? WHERE workspace_id = ?', [
      hourAgo(),
      idToBytes(own.workspaceId),
    ]);
  }
}

/** Makes a workspace with a list that a job has to count. */
async function uncounted(filter: object = { search: firstName }) {
  const own = await workspace();
  await makeContacts(own, many, { firstName, company: 'Old' });
  const { status, body } = await call(own, 'POST', '', { name: 'Large', kind: 'dynamic', filter });
  expect(status).toBe(201);
  return { own, list: body, id: body.id as string };
}

// Shows A62
test('a new list of more contacts than are counted meanwhile shows an estimate, until a job has counted them', async () => {
  const { own, list, id } = await uncounted();
  expect(list.contactCountAt).toBeNull();
  expect(list.contactCount).toBeGreaterThan(many / 2);
  expect(await listed(own, id)).toEqual(list);
  expect(await countToTheEnd(own)).toBe('done');
  const counted = await listed(own, id);
  expect(counted).toMatchObject({ contactCount: many, contactCountAt: expect.any(String) });
  expect(await countOn(own.workspaceId)).toBe('dropped');

  // The count is old, and the contacts are too many to count during the request: a job counts them again.
  await makeContacts(own, 5, { firstName });
  await age(id);
  expect((await listed(own, id)).contactCount).toBe(many);
  expect(await countToTheEnd(own)).toBe('done');
  const again = await listed(own, id);
  expect(again.contactCount).toBe(many + 5);
  expect(Date.parse(again.contactCountAt)).toBeGreaterThanOrEqual(Date.parse(counted.contactCountAt));
});

test('a worker that dies amid the counting: another goes on from there when its lease has ended', async () => {
  const { own, id } = await uncounted();
  const until = new Date(now().getTime() + 10_000);
  const lease = (await claim(own, until))!;
  expect(await counts.findCounting(lease)).toBeNull();
  const [third] = await query<{ id: Buffer }[]>(
    'SELECT id FROM contacts WHERE workspace_id = ? ORDER BY id LIMIT 1 OFFSET 2999',
    [idToBytes(own.workspaceId)],
  );
  const afterContactId = idFromBytes('contact', third!['id']);
  const progress = {
    listId: id,
    filter: { search: firstName, tag: null, clientReference: null },
    afterContactId,
    // A number that counting cannot reach, so the result shows that the next worker went on from here.
    counted: 100_000,
    beganAt: now(),
    workedMs: 1,
  };
  expect(await counts.updateCounting(lease, until, progress)).toBe(true);
  expect(await countOn(own.workspaceId)).toBe('dropped');
  await endLease(own);
  expect(await countToTheEnd(own)).toBe('done');
  expect((await listed(own, id)).contactCount).toBe(100_000 + many - 3_000);
  expect(await counts.updateCounting(lease, until, progress)).toBe(false);
  expect(await rowOf(own)).toMatchObject({ due_at: null, lease_token: null });
  expect((await rowOf(own))['claims']).toBeGreaterThanOrEqual(2);
});

test('a filter that is changed, or a list that is deleted, meanwhile ends the counting by it', async () => {
  const { own, id } = await uncounted();
  const until = new Date(now().getTime() + 10_000);
  const lease = (await claim(own, until))!;
  const progress = { afterContactId: null, counted: 7, beganAt: now(), workedMs: 0 };
  const filter = { search: firstName, tag: null, clientReference: null };
  await counts.updateCounting(lease, until, { ...progress, listId: id, filter });
  const changed = await call(own, 'PATCH', `/${id}`, { filter: { search: `${firstName} old` } });
  expect(changed.body.contactCountAt).toBeNull();
  const gone = (await call(own, 'POST', '', { name: 'Gone', kind: 'dynamic', filter })).body.id;
  await call(own, 'DELETE', `/${gone}`);
  await endLease(own);
  expect(await countToTheEnd(own)).toBe('done');
  expect(await listed(own, id)).toMatchObject({ contactCount: many, contactCountAt: expect.any(String) });
});

test('what is wanted while a worker lets go is not lost', async () => {
  const { own, id } = await uncounted();
  expect(await countToTheEnd(own)).toBe('done');
  await age(id);
  const until = new Date(now().getTime() + 10_000);
  expect(await claim(own, until)).toBeNull();
  await listed(own, id);
  const lease = await claim(own, until);
  expect(lease).not.toBeNull();
  expect(await transaction(() => counts.updateCountingReleased(lease!, now()))).toBe(true);
  expect((await rowOf(own))['due_at']).not.toBeNull();
});

test('a wake-up that is lost is made again, and the list is counted', async () => {
  const { own, id } = await uncounted();
  await forgetRedis();
  const workers = await runWorkers(['count-contacts', 'sweep']);
  await waitFor('it is counted', async () => (await listed(own, id)).contactCountAt !== null);
  await workers.stop();
  expect((await listed(own, id)).contactCount).toBe(many);
});
