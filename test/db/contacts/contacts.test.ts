import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { processlist } from '../../../shared/db/client/time-limit.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { insertMembers } from '../../../shared/db/contact-lists/members.ts';
import {
  deleteContact,
  insertContacts,
  listContactsByIds,
  listContactsByNumberForUpdate,
} from '../../../shared/db/contacts/contacts.ts';
import { countContacts, listContacts } from '../../../shared/db/contacts/search.ts';
import * as contactBatches from '../../../shared/domain/contacts/batches.ts';
import * as contactFilter from '../../../shared/domain/contacts/filter.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { contactRecord } from '../../support/data/contact-record.ts';
import { useDatabase } from '../../support/database/database.ts';
import { withoutWaiting } from '../../support/database/lock-wait.ts';
import { rowsRead } from '../../support/database/rows-read.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const newWorkspace = () => newId('workspace', new Date());
const listed = async (workspaceId: string) =>
  (await listContacts(workspaceId, contactFilter.compile({}), { limit: 50, before: null })).records;
const countOf = async (workspaceId: string, filter: object) =>
  (await countContacts(workspaceId, contactFilter.compile(filter))).count;
const callerIn = (workspaceId: string) =>
  callerOf({ workspaceId, keyId: newId('key', new Date()), key: '', domain: '', sender: '' });

async function save(workspaceId: string, numbers: string[], texts: object = {}) {
  const rows = await contactBatches.prepare({ contacts: numbers.map((number) => ({ number, ...texts })) });
  return transaction(() => contactBatches.save(callerIn(workspaceId), rows));
}

/** Starts a transaction that does the work and then stays open; returns the function that ends it. */
async function opened(work: () => Promise<unknown>): Promise<() => Promise<void>> {
  const done = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const open = transaction(async () => {
    await work();
    done.resolve();
    await over.promise;
  });
  await Promise.race([done.promise, open]);
  return async () => {
    over.resolve();
    await open;
  };
}

/** Waits until another connection has been busy with one statement for so long that it must be waiting for a lock. */
async function untilALockIsWaitedFor(): Promise<void> {
  let [last, seen] = [0, 0];
  await waitFor(
    'a statement that waits for a lock',
    async () => {
      const [row] = await query<{ busy: number }[]>(
        `SELECT id AS busy FROM ${processlist}
         WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info LIKE 'SELECT%FOR UPDATE'`,
      );
      seen = row && row['busy'] === last ? seen + 1 : 0;
      last = row ? row['busy'] : 0;
      return seen === 5;
    },
    { intervalMs: 50 },
  );
}

test('of a thousand numbers each is looked up once', async () => {
  const workspaceId = newWorkspace();
  const numbers = Array.from({ length: 1_000 }, (_, index) => `+4477009${String(index).padStart(5, '0')}`);
  await save(workspaceId, numbers.slice(500));
  const read = await rowsRead(async () =>
    expect(await listContactsByNumberForUpdate(workspaceId, numbers)).toHaveLength(500),
  );
  expect(read).toBeLessThanOrEqual(1_100);
});

test('a thousand contacts become members of a list, and no other is read', async () => {
  const workspaceId = newWorkspace();
  const numbers = Array.from({ length: 3_000 }, (_, index) => `+4477009${String(index).padStart(5, '0')}`);
  await save(workspaceId, numbers);
  const contacts = await listContactsByNumberForUpdate(workspaceId, numbers.slice(0, 1_000));
  const ids = contacts.map(({ id }) => id);
  const listId = newId('list', new Date());
  const read = await rowsRead(async () =>
    expect(await insertMembers(workspaceId, listId, ids, now())).toEqual({ known: 1_000, added: 1_000 }),
  );
  expect(read).toBeLessThanOrEqual(1_100);
});

test('a batch that meets a contact which another creates waits for it, and updates it', async () => {
  const workspaceId = newWorkspace();
  const end = await opened(() => save(workspaceId, ['+447700900500'], { lastName: 'Lovelace' }));
  const waiting = save(workspaceId, ['+447700900500', '+447700900400'], { firstName: 'Ada' });
  await untilALockIsWaitedFor();
  await end();
  expect(await waiting).toMatchObject({ created: 1, updated: 1 });
  expect(await listed(workspaceId)).toMatchObject([
    { number: '+447700900400', firstName: 'Ada', lastName: null },
    { number: '+447700900500', firstName: 'Ada', lastName: 'Lovelace' },
  ]);
});

test('a batch that creates what another has just created is refused whole, and can be sent again', async () => {
  const workspaceId = newWorkspace();
  const [unknown, known, fresh] = ['+447700900400', '+447700900500', '+447700900300'];
  await save(workspaceId, [known]);
  const [held] = await listed(workspaceId);
  const end = await opened(() => listContactsByIds(workspaceId, [held!.id], 'FOR UPDATE'));
  // The save looks for the unknown number first; then it has to wait for the lock on the known one.
  const refused = save(workspaceId, [unknown, known, fresh], { firstName: 'Ada' });
  refused.catch(() => undefined);
  await untilALockIsWaitedFor();
  await save(workspaceId, [unknown]);
  await end();
  await expect(refused).rejects.toMatchObject({ code: 'contacts_conflict' });
  const left = (await listed(workspaceId)).map(({ number, firstName }) => [number, firstName]);
  expect(left).toEqual([
    [unknown, null],
    [known, null],
  ]);
  const again = await save(workspaceId, [unknown, known, fresh], { firstName: 'Ada' });
  expect(again).toMatchObject({ created: 1, updated: 2 });
  expect(await countOf(workspaceId, { search: 'ada' })).toBe(3);
  expect(await countOf(workspaceId, {})).toBe(3);
});

test('a batch waits for those alone who change its contacts', async () => {
  const workspaceId = newWorkspace();
  await save(workspaceId, ['+447700900500', '+447700900502']);
  const [second, first] = await listed(workspaceId);
  const end = await opened(() => listContactsByIds(workspaceId, [first!.id], 'FOR UPDATE'));
  const outcome = await withoutWaiting(() =>
    save(workspaceId, [second!.number, '+447700900501'], { firstName: 'Ada' }),
  );
  expect(outcome).toMatchObject({ created: 1, updated: 1 });
  await end();
});

test('a contact that is deleted leaves its lists, and they count one less', async () => {
  const workspaceId = newWorkspace();
  const [one, two] = [contactRecord(1), contactRecord(2)];
  await transaction(() => insertContacts(workspaceId, [one, two]));
  const [workspace, list, at] = [idToBytes(workspaceId), idToBytes(newId('list', new Date())), new Date()];
  await query('INSERT INTO contact_lists SET ?', [
    {
      id: list,
      workspace_id: workspace,
      name: 'Some',
      kind: 'static',
      member_count: 2,
      created_at: at,
      updated_at: at,
    },
  ]);
  await query('INSERT INTO contact_list_members (list_id, contact_id, workspace_id) VALUES ?', [
    [one, two].map(({ id }) => [list, idToBytes(id), workspace]),
  ]);
  await transaction(() => deleteContact(workspaceId, one));
  const counts = await query('SELECT member_count FROM contact_lists WHERE id = ?', [list]);
  expect(counts).toEqual([{ member_count: 1 }]);
  const members = await query('SELECT contact_id FROM contact_list_members WHERE list_id = ?', [list]);
  expect(members).toEqual([{ contact_id: idToBytes(two.id) }]);
});
