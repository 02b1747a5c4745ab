import mysql from 'mysql2/promise';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { config } from '../../../../shared/config/config.ts';
import { transaction } from '../../../../shared/db/client.ts';
import { deleteContactList } from '../../../../shared/db/contact-lists/contact-lists.ts';
import { findSmsBalance } from '../../../../shared/db/sms/balances.ts';
import { listSms } from '../../../../shared/db/sms/listings.ts';
import { findWorkspaceForUpdate } from '../../../../shared/db/workspace/workspaces.ts';
import * as senders from '../../../../shared/domain/senders/senders.ts';
import * as balance from '../../../../shared/domain/sms/balance.ts';
import { nextStates } from '../../../../shared/domain/sms/batches/record.ts';
import * as smsDelivery from '../../../../shared/domain/sms/delivery/delivery.ts';
import * as smsReceipts from '../../../../shared/domain/sms/gateways/receipts.ts';
import * as prices from '../../../../shared/domain/sms/prices.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { makeContacts } from '../../../support/data/address-book.ts';
import {
  batchOf,
  messagesTo,
  newBatch,
  postBatch,
  statusesOf,
  workLater,
  workOff,
} from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { watchLockWaits } from '../../../support/database/lock-wait.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { useTextGateway } from '../../../support/servers/text-gateway.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

// A batch is accepted at one time and its messages are made later: these tests change things between the two.
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const call = (method: string, path: string, body?: object) =>
  api.request(method, `/v2${path}`, { key: own.key, ...(body && { body }) });
const credit = (amount: number) => balance.add(own.workspaceId, amount, null);
const shown = (id: string) => batchOf(api, own, id);
const inHours = (hours: number) => new Date(now().getTime() + hours * 3_600_000).toISOString();
const laterMs = 2 * 3_600_000 + 1_000;
const messagesOf = async (id: string) =>
  (await listSms(own.workspaceId, { batchId: id }, { limit: 200, before: null })).records;
async function listOf(name: string, contactIds: string[]) {
  const { id } = (await call('POST', '/contact-lists', { name })).body;
  const add = (ids: string[]) => call('POST', `/contact-lists/${id}/contacts`, { contactIds: ids });
  if (contactIds.length > 0) await add(contactIds);
  return { id, add };
}

test('a sender that is rejected, or a price that is missing by then, fails each message that it concerns', async () => {
  const { id: senderId } = await senders.addApproved(own.workspaceId, 'Beta');
  await senders.addApproved(own.workspaceId, 'Gamma', ['FR']);
  const messages = [
    { recipient: '+447911000001', sender: 'Beta' },
    { recipient: '+33612345678', sender: 'Gamma' },
  ];
  const { id } = await newBatch(api, own, { messages, scheduledAt: inHours(2) });
  await senders.reject(senderId, ['GB'], 'No');
  // Nothing was charged when the batch was accepted, so no price was needed; from the credit on one is needed.
  await credit(1_000_000);
  await workLater(id, laterMs);
  const reasons = (await messagesOf(id)).map(
    ({ recipient, status, reason, cost, charged }) =>
      [recipient, status, reason?.category, reason?.code, cost, charged] as const,
  );
  const nothing = [{ gbp: 0, eur: 0 }, 0];
  expect(reasons.toSorted(([one], [other]) => (one < other ? -1 : 1))).toEqual([
    ['+33612345678', 'failed', 'rejected', 'no_price', ...nothing],
    ['+447911000001', 'failed', 'rejected', 'sender_not_approved', ...nothing],
  ]);
  expect((await shown(id)).counts).toMatchObject({ total: 2, failed: 2 });
  expect(await balance.find(own.workspaceId)).toBe(1_000_000);
});

test('lists are read as they were when the batch began; who is left out, gone or suppressed since then gets nothing', async () => {
  const contacts = await makeContacts(own, 7, { firstName: 'Ada' });
  const [list, not] = [await listOf('Members', contacts.slice(0, 6)), await listOf('Not', [])];
  await credit(1);
  const { id } = await newBatch(api, own, {
    listIds: [list.id],
    excludeLists: [not.id],
    content: 'Dear {{ contact.firstName }}',
  });
  await workOff(id);
  expect(await shown(id)).toMatchObject({ status: 'paused', counts: { total: 6, waiting: 6 } });
  const numberOf = async (contactId: string) => (await call('GET', `/contacts/${contactId}`)).body.number;
  await list.add([contacts[6]!]);
  await not.add([contacts[0]!]);
  await call('DELETE', `/contacts/${contacts[1]}`);
  const suppressed = await numberOf(contacts[2]!);
  await call('POST', '/suppressions', { number: suppressed });
  await credit(1_000_000);
  await workLater(id);
  expect((await shown(id)).counts).toMatchObject({ total: 4, waiting: 0, queued: 3, failed: 1 });
  const made = await messagesOf(id);
  expect(made.find(({ status }) => status === 'failed')!.recipient).toBe(suppressed);
  const sent = made.filter(({ status }) => status === 'queued').map(({ contactId }) => contactId!);
  expect(sent.toSorted()).toEqual(contacts.slice(3, 6));
});

test('a contact that is added to the list while the batch reads it gets nothing, however old it is', async () => {
  const contacts = await makeContacts(own, 5);
  const list = await listOf('Members', contacts.slice(0, 3));
  // Three contacts are read at once, and no more while their messages wait to be sent.
  changeSettings({ MAX_WAITING_ROWS: 3 });
  try {
    const { id } = await newBatch(api, own, { listIds: [list.id], scheduledAt: inHours(2) });
    await list.add([contacts[3]!]);
    await workLater(id, laterMs);
    expect(await shown(id)).toMatchObject({ status: 'paused', counts: { total: 3, queued: 3 } });
    await advanceClock(10_000);
    await list.add([contacts[4]!]);
    changeSettings({ MAX_WAITING_ROWS: 5_000_000 });
    await workLater(id);
    expect(await shown(id)).toMatchObject({ expanding: false, counts: { total: 4, queued: 4 } });
    const sent = (await messagesOf(id)).map(({ contactId }) => contactId!);
    expect(sent.toSorted()).toEqual(contacts.slice(0, 4));
  } finally {
    changeSettings({ MAX_WAITING_ROWS: 5_000_000 });
  }
});

test('a list that keeps people out of a batch cannot be deleted while messages of it are still to be made', async () => {
  const contacts = await makeContacts(own, 2);
  const [list, not] = [await listOf('Members', contacts), await listOf('Not', contacts.slice(0, 1))];
  const body = { listIds: [list.id], excludeLists: [not.id], scheduledAt: inHours(2) };
  const [cancelled, { id }] = [await newBatch(api, own, body), await newBatch(api, own, body)];
  await call('DELETE', `/sms/batches/${cancelled.id}`);
  const refused = await call('DELETE', `/contact-lists/${not.id}`);
  expect([refused.status, refused.body.type]).toEqual([409, expect.stringMatching(/in_use$/)]);
  await workLater(id, laterMs);
  expect((await messagesOf(id)).map(({ contactId }) => contactId)).toEqual(contacts.slice(1));
  expect((await call('DELETE', `/contact-lists/${not.id}`)).status).toBe(204);
});

test('a batch is refused when a list that it leaves out is deleted while it is accepted', async () => {
  const [list, not] = [await listOf('Members', await makeContacts(own, 1)), await listOf('Not', [])];
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const deleting = transaction(async () => {
    await findWorkspaceForUpdate(own.workspaceId);
    held.resolve();
    await over.promise;
    await deleteContactList(own.workspaceId, not.id);
  });
  await held.promise;
  const waits = await watchLockWaits();
  const answer = postBatch(api, own, { listIds: [list.id], excludeLists: [not.id] });
  try {
    await waitFor('the batch waits for the workspace', async () => (await waits.look()).length > 0);
  } finally {
    over.resolve();
    await Promise.all([deleting, waits.close()]);
  }
  const { status, body } = await answer;
  expect([status, body.errors]).toEqual([
    400,
    { 'excludeLists[0]': ['is not the id of a list of this workspace'] },
  ]);
});

test('a list that is empty, or gone by then, completes with nothing', async () => {
  const list = await listOf('Empty', []);
  const gone = await listOf('Gone', await makeContacts(own, 2));
  const empty = await newBatch(api, own, { listIds: [list.id] });
  const late = await newBatch(api, own, { listIds: [gone.id], scheduledAt: inHours(2) });
  await call('DELETE', `/contact-lists/${gone.id}`);
  await workOff(empty.id);
  await workLater(late.id, laterMs);
  await workLater(late.id);
  await workLater(empty.id);
  for (const { id } of [empty, late])
    expect(await shown(id)).toMatchObject({
      status: 'completed',
      completedAt: expect.any(String),
      expanding: false,
      counts: { total: 0 },
      parts: 0,
      cost: { gbp: '0.0000', eur: '0.0000' },
    });
});

test('a key that is rotated stays the key of its batch', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(2), scheduledAt: inHours(2) });
  const rotated = (await call('POST', `/api-keys/${own.keyId}/rotate`, { overlapHours: 0 })).body;
  own = { ...own, key: rotated.key, keyId: rotated.id };
  await workLater(id, laterMs);
  expect(await shown(id)).toMatchObject({ status: 'processing', counts: { queued: 2 } });
  expect((await call('GET', `/api-keys/${own.keyId}`)).body.limits.usedToday).toBe(2);
});

test('receipts that come after the cancellation still move the counts, which always add up', async () => {
  const gateway = useTextGateway();
  const { id } = await newBatch(api, own, { messages: messagesTo(3) });
  await workOff(id);
  const [first] = await messagesOf(id);
  gateway.says = () => Promise.resolve({ kind: 'accepted', reference: 'late' });
  await smsDelivery.attempt(first!.id);
  await call('DELETE', `/sms/batches/${id}`);
  await workOff(id);
  expect((await shown(id)).counts).toMatchObject({ total: 3, sent: 1, cancelled: 2 });
  await smsReceipts.apply({ gateway: 'network', reference: 'late', reason: null });
  expect(await shown(id)).toMatchObject({
    status: 'cancelled',
    counts: { total: 3, sent: 0, delivered: 1, cancelled: 2 },
  });
  gateway.stop();
});

test('a batch goes from one status to these and to no other', async () => {
  expect(nextStates).toEqual({
    scheduled: ['processing', 'cancelled'],
    processing: ['paused', 'completed', 'cancelled'],
    paused: ['processing', 'cancelled'],
    completed: [],
    cancelled: [],
  });
  const codeOf = async (method: string, path: string) =>
    String((await call(method, path)).body.type)
      .split('/')
      .at(-1);
  const scheduled = await newBatch(api, own, { messages: messagesTo(1), scheduledAt: inHours(2) });
  expect(await codeOf('POST', `/sms/batches/${scheduled.id}/resume`)).toBe('not_paused');
  const { id } = await newBatch(api, own, { listIds: [(await listOf('None', [])).id] });
  await workOff(id);
  await workLater(id);
  expect([
    await codeOf('DELETE', `/sms/batches/${id}`),
    await codeOf('POST', `/sms/batches/${id}/resume`),
  ]).toEqual(['not_cancellable', 'not_paused']);
});

test('a chunk takes the balance when all else of it is written, so that single texts wait for its commit alone', async () => {
  await credit(1_000_000);
  const count = 40;
  const { id } = await newBatch(api, own, { messages: messagesTo(count), content: 'Hi' });
  const [waits, outside] = await Promise.all([
    watchLockWaits(),
    mysql.createConnection({ uri: config.MYSQL_URL }),
  ]);
  await outside.query('SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED');
  const written = async () => {
    const [[row]] = await outside.query<mysql.RowDataPacket[]>(
      `SELECT (SELECT COUNT(*) FROM sms_messages WHERE batch_id = ?) AS messages,
         (SELECT COUNT(*) FROM events e JOIN sms_messages m ON m.id = e.record_id WHERE m.batch_id = ?) AS events`,
      [idToBytes(id), idToBytes(id)],
    );
    return [Number(row!['messages']), Number(row!['events'])];
  };
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = transaction(async () => {
    await findSmsBalance(own.workspaceId, 'FOR UPDATE');
    held.resolve();
    await over.promise;
  });
  await held.promise;
  const working = workOff(id);
  try {
    await waitFor('the chunk waits, with all of it written', async () => {
      const isWaiting = (await waits.look()).length > 0;
      return isWaiting && (await written()).every((rows) => rows === count);
    });
  } finally {
    over.resolve();
    await Promise.all([holder, working, waits.close(), outside.end()]);
  }
  expect(await statusesOf(id)).toEqual({ queued: count });
});
