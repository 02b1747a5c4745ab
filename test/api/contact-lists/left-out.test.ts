import { beforeAll, expect, test } from 'vitest';
import { query, transaction } from '../../../shared/db/client.ts';
import { deleteContactList } from '../../../shared/db/contact-lists/contact-lists.ts';
import * as copies from '../../../shared/db/contact-lists/copies.ts';
import { findWorkspaceForUpdate } from '../../../shared/db/workspace/workspaces.ts';
import * as contactLists from '../../../shared/domain/contact-lists/contact-lists.ts';
import { idToBytes, newId, newUuid } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { makeContacts, memberRowsOf } from '../../support/data/address-book.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits } from '../../support/database/lock-wait.ts';
import { rowsRead } from '../../support/database/rows-read.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';

// No worker runs here: the tests make each batch of a copy themselves, and delete lists between two of them.
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let contacts: string[];
let source: string;

beforeAll(async () => {
  changeSettings({ LIST_COPY_WAIT_SECONDS: 0 });
  api = await startApi();
  own = await workspace();
  contacts = await makeContacts(own, 1_010);
  source = await listOf(contacts);
});

const call = (method: string, at: string, body?: object) =>
  api.request(method, `/v2/contact-lists${at}`, { key: own.key, ...(body && { body }) });
async function listOf(contactIds: string[] = []): Promise<string> {
  const { id } = (await call('POST', '', { name: 'A list' })).body;
  if (contactIds.length > 0) await call('POST', `/${id}/contacts`, { contactIds });
  return id;
}
const copy = (into: string, excludeLists: string[]) =>
  call('POST', `/${into}/contacts`, { fromLists: [source], excludeLists });
async function idOf(into: string): Promise<string> {
  const [row] = await query<{ id: Buffer }[]>('SELECT id FROM contact_list_copies WHERE list_id = ?', [
    idToBytes(into),
  ]);
  return row!.id.toString('hex');
}
const oneBatchOf = (copyId: string) => contactLists.copyOn(copyId, 0);
const allOf = (copyId: string) => contactLists.copyOn(copyId, 60_000);
const listed = async (id: string) => (await call('GET', `/${id}`)).body;

test('a list that keeps people out of a copy cannot be deleted until the copy is over', async () => {
  const [into, not, unused] = [await listOf(), await listOf(contacts.slice(-1)), await listOf()];
  expect((await copy(into, [not])).status).toBe(202);
  const copyId = await idOf(into);
  await oneBatchOf(copyId);
  const refused = await call('DELETE', `/${not}`);
  expect([refused.status, refused.body.type]).toEqual([409, `${api.url}/problems/in_use`]);
  expect((await call('DELETE', `/${unused}`)).status).toBe(204);
  await allOf(copyId);
  expect((await memberRowsOf(into)).slice(1_000)).toEqual(contacts.slice(1_000, -1));
  expect((await call('DELETE', `/${not}`)).status).toBe(204);
});

test('a copy that leaves out the list that it copies into ends with that list, and keeps no other one then', async () => {
  const [into, not] = [await listOf(), await listOf()];
  await copy(into, [into, not]);
  expect((await call('DELETE', `/${into}`)).status).toBe(204);
  expect((await call('DELETE', `/${not}`)).status).toBe(204);
});

test('a copy is refused when a list that it leaves out is deleted while it is accepted', async () => {
  const [into, not] = [await listOf(), await listOf()];
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const deleting = transaction(async () => {
    await findWorkspaceForUpdate(own.workspaceId);
    held.resolve();
    await over.promise;
    await deleteContactList(own.workspaceId, not);
  });
  await held.promise;
  const waits = await watchLockWaits();
  const answer = copy(into, [not]);
  try {
    await waitFor('the copy waits for the workspace', async () => (await waits.look()).length > 0);
  } finally {
    over.resolve();
    await Promise.all([deleting, waits.close()]);
  }
  const { status, body } = await answer;
  expect([status, body.errors]).toEqual([
    400,
    { 'excludeLists[0]': ['is not the id of a list of this workspace'] },
  ]);
  expect((await listed(into)).copyInProgress).toBe(false);
});

test('a copy ends, and adds nobody more, when a list that it leaves out is gone all the same', async () => {
  const [into, not] = [await listOf(), await listOf(contacts.slice(-1))];
  await copy(into, [not]);
  const copyId = await idOf(into);
  await oneBatchOf(copyId);
  await transaction(() => deleteContactList(own.workspaceId, not));
  expect(await allOf(copyId)).toBe('done');
  expect(await listed(into)).toMatchObject({ copyInProgress: false, contactCount: 1_000 });
  expect(await memberRowsOf(into)).toHaveLength(1_000);
});

test('copies of other workspaces are not read to tell whether a copy leaves a list out', async () => {
  const not = await listOf();
  const read = () => rowsRead(() => copies.findIsLeftOutOfCopy(own.workspaceId, not));
  const before = await read();
  const [other, createdAt] = [await workspace(), new Date()];
  for (let count = 0; count < 50; count += 1) {
    const [id, list] = [newUuid(createdAt).toString('hex'), newId('list', createdAt)];
    const request = { sources: [list], excluded: [not], filter: {} };
    const parked = count % 2 === 0;
    await copies.insertCopy(other.workspaceId, {
      id,
      listId: list,
      request,
      requestId: null,
      parked,
      createdAt,
    });
  }
  expect(await read()).toBeLessThanOrEqual(before + 2);
  expect((await call('DELETE', `/${not}`)).status).toBe(204);
});
