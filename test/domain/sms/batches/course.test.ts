import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { listEventsOfRecord } from '../../../../shared/db/events/events.ts';
import { listSms } from '../../../../shared/db/sms/listings.ts';
import * as apiKeys from '../../../../shared/domain/api-keys/api-keys.ts';
import * as relay from '../../../../shared/domain/events/relay.ts';
import * as balance from '../../../../shared/domain/sms/balance.ts';
import * as smsBatches from '../../../../shared/domain/sms/batches/batches.ts';
import { attempt } from '../../../../shared/domain/sms/batches/batches.ts';
import * as smsDelivery from '../../../../shared/domain/sms/delivery/delivery.ts';
import * as prices from '../../../../shared/domain/sms/prices.ts';
import * as recovery from '../../../../shared/domain/work/recovery.ts';
import * as waitingOf from '../../../../shared/domain/work/waiting.ts';
import * as workspaces from '../../../../shared/domain/workspace/workspaces.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { makeContacts } from '../../../support/data/address-book.ts';
import {
  batchOf,
  messagesTo,
  newBatch,
  statusesOf,
  workLater,
  workOff,
} from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 3600 });
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const part = 300;
const credit = (amount: number) => balance.add(own.workspaceId, amount, null);
const left = () => balance.find(own.workspaceId);
const call = (method: string, path: string, body?: object, key = own.key) =>
  api.request(method, `/v2${path}`, { key, ...(body && { body }) });
const shown = (id: string) => batchOf(api, own, id);
const eventsOf = async (id: string) => await listEventsOfRecord(own.workspaceId, id);
const typesOf = async (id: string) => (await eventsOf(id)).map(({ type }) => type);
const messagesOf = async (id: string) =>
  (await listSms(own.workspaceId, { batchId: id }, { limit: 200, before: null })).records;
const inHours = (hours: number) => new Date(now().getTime() + hours * 3_600_000).toISOString();

async function suppress(number: string): Promise<void> {
  await call('POST', '/suppressions', { number });
}

test('a batch completes once every message has come to its end, with one event', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(3) });
  await workOff(id);
  await suppress('+447911000002');
  for (const message of await messagesOf(id)) await smsDelivery.attempt(message.id);
  await workLater(id);
  expect(await shown(id)).toMatchObject({ status: 'processing', counts: { sent: 2, failed: 1 } });
  await advanceClock(72 * 3_600_000);
  await workLater(id);
  // Two messages never got a report, and stay `sent`.
  const completed = await shown(id);
  expect(completed).toMatchObject({
    status: 'completed',
    counts: { total: 3, waiting: 0, queued: 0, sent: 2, failed: 1 },
  });
  const [event, ...others] = await eventsOf(id);
  expect([event!.type, others, JSON.parse(event!.data)]).toEqual(['batch.completed', [], completed]);
});

test('a suppressed number becomes a message that has failed, uncharged, and was queued before', async () => {
  await credit(10 * part);
  await suppress('+447911000001');
  const { id } = await newBatch(api, own, { messages: messagesTo(2) });
  await workOff(id);
  expect(await shown(id)).toMatchObject({ counts: { total: 2, queued: 1, failed: 1 } });
  const failed = (await messagesOf(id)).find(({ status }) => status === 'failed')!;
  expect(failed).toMatchObject({
    reason: { category: 'suppressed' },
    charged: 0,
    recipient: '+447911000001',
  });
  expect(await typesOf(failed.id)).toEqual(['sms.queued', 'sms.failed']);
  expect(await left()).toBe(9 * part);
});

test('text that cannot be rendered fails by itself: no content, no parts, no cost', async () => {
  const { id } = await newBatch(api, own, {
    content: 'Dear {{ name | date: format: 1 }}{% if long %}{{ long }}{% endif %}',
    messages: [{ recipient: '+447911000000', data: { long: 'x'.repeat(4_000) } }, ...messagesTo(1, 1)],
  });
  await workOff(id);
  const failed = (await messagesOf(id)).find(({ status }) => status === 'failed')!;
  expect(failed).toMatchObject({
    content: '',
    parts: 0,
    cost: { gbp: 0, eur: 0 },
    reason: { category: 'rejected', code: 'content_invalid' },
  });
  expect(await statusesOf(id)).toEqual({ queued: 1, failed: 1 });
});

test('a batch that cannot be paid sends what can be, pauses once, and goes on by itself after a credit', async () => {
  await credit(2 * part + 1);
  const { id } = await newBatch(api, own, { messages: messagesTo(5) });
  await workOff(id);
  const paused = await shown(id);
  expect(paused).toMatchObject({
    status: 'paused',
    pausedReason: 'insufficient_balance',
    counts: { total: 5, waiting: 3, queued: 2 },
    expanding: true,
  });
  expect(await left()).toBe(1);
  expect(JSON.parse((await eventsOf(id))[0]!.data)).toEqual(paused);

  // While the cause lasts, the batch is checked again, and makes no event.
  await workLater(id);
  expect((await call('POST', `/sms/batches/${id}/resume`)).body).toEqual(paused);
  await credit(part);
  await smsBatches.wakePaused(own.workspaceId);
  await workOff(id);
  expect(await shown(id)).toMatchObject({ status: 'paused', counts: { waiting: 2, queued: 3 } });
  await credit(2 * part);
  await workLater(id);
  expect(await shown(id)).toMatchObject({ status: 'processing', expanding: false, counts: { queued: 5 } });
  expect([await left(), await typesOf(id)]).toEqual([1, ['batch.paused', 'batch.paused']]);
  expect((await call('POST', `/sms/batches/${id}/resume`)).body.type).toMatch(/not_paused$/);
});

test('of two batches that wait for a balance the older one is paid first', async () => {
  await credit(part);
  const [older, newer] = [
    await newBatch(api, own, { messages: messagesTo(3) }),
    await newBatch(api, own, { messages: messagesTo(3, 10) }),
  ];
  await workOff(older.id);
  await workOff(newer.id);
  await credit(part);
  await smsBatches.wakePaused(own.workspaceId);
  await workOff(newer.id);
  expect((await shown(newer.id)).counts.queued).toBe(0);
  await workOff(older.id);
  expect((await shown(older.id)).counts.queued).toBe(2);
});

test('the limit of the key pauses a batch until it is raised or the day is over', async () => {
  await call('PATCH', `/api-keys/${own.keyId}`, { limits: { dailyParts: 2 } }, await adminKey());
  const { id } = await newBatch(api, own, { messages: messagesTo(3) });
  await workOff(id);
  expect(await shown(id)).toMatchObject({
    status: 'paused',
    pausedReason: 'limit_reached',
    counts: { queued: 2 },
  });
  await advanceClock(24 * 3_600_000);
  await workLater(id);
  expect(await shown(id)).toMatchObject({ status: 'processing', pausedReason: null, counts: { queued: 3 } });
});

async function adminKey(): Promise<string> {
  return (await apiKeys.issue(own.workspaceId, {})).key;
}

test('a workspace that may not send has its batch paused, before a chunk and not within one', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(2) });
  await workspaces.change(own.workspaceId, { sendingBlocked: true });
  await workOff(id);
  expect(await shown(id)).toMatchObject({
    status: 'paused',
    pausedReason: 'sending_blocked',
    counts: { waiting: 2 },
  });
  await workspaces.change(own.workspaceId, { sendingBlocked: false });
  await workLater(id);
  expect((await shown(id)).counts.queued).toBe(2);
  expect(await typesOf(id)).toEqual(['batch.paused']);
});

test('a key that is deleted pauses its batch; another key that resumes it pays for it', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(2) });
  const other = await apiKeys.issue(own.workspaceId, {});
  await call('DELETE', `/api-keys/${own.keyId}`, undefined, other.key);
  own = { ...own, key: other.key, keyId: other.record.id };
  await workOff(id);
  expect(await shown(id)).toMatchObject({ status: 'paused', pausedReason: 'key_revoked' });
  await workLater(id);
  expect((await shown(id)).status).toBe('paused');
  expect((await call('POST', `/sms/batches/${id}/resume`)).body).toMatchObject({ status: 'processing' });
  await workOff(id);
  expect((await shown(id)).counts.queued).toBe(2);
  const key = await call('GET', `/api-keys/${own.keyId}`);
  expect(key.body.limits.usedToday).toBe(2);
});

test('cancelled while it expands: at once, then rows and messages follow, and the money comes back', async () => {
  await credit(2 * part);
  const { id } = await newBatch(api, own, { messages: messagesTo(5) });
  await workOff(id);
  const [handedOver] = await messagesOf(id);
  await smsDelivery.attempt(handedOver!.id);
  const answer = await call('DELETE', `/sms/batches/${id}`);
  expect([answer.status, answer.body]).toMatchObject([200, { status: 'cancelled', expanding: false }]);
  await workOff(id);
  const cancelled = await shown(id);
  expect(cancelled).toMatchObject({
    status: 'cancelled',
    completedAt: null,
    counts: { total: 5, waiting: 0, queued: 0, sent: 1, cancelled: 4 },
  });
  expect(await statusesOf(id)).toEqual({ sent: 1, cancelled: 1 });
  expect(await left()).toBe(part);
  expect(await typesOf(id)).toEqual(['batch.paused', 'batch.cancelled']);
  expect((await call('GET', `/api-keys/${own.keyId}`)).body.limits.usedToday).toBe(1);
  expect((await call('DELETE', `/sms/batches/${id}`)).body.type).toMatch(/not_cancellable$/);
});

test('a scheduled batch waits, and looks at the suppressions of its own time', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(2), scheduledAt: inHours(2) });
  await recovery.sweep();
  expect([await attempt(id), (await shown(id)).status]).toEqual(['dropped', 'scheduled']);
  await suppress('+447911000001');
  await advanceClock(2 * 3_600_000 + 1_000);
  await workOff(id);
  expect(await shown(id)).toMatchObject({ status: 'processing', counts: { queued: 1, failed: 1 } });
});

test('rows that wait count against what a workspace may have waiting, until they are sent or cancelled', async () => {
  changeSettings({ MAX_WAITING_ROWS: 5 });
  const { id } = await newBatch(api, own, { messages: messagesTo(4) });
  const refused = await call('POST', '/sms/batches', { content: 'Hello', messages: messagesTo(2, 10) });
  expect([refused.status, refused.body.type]).toMatchObject([409, expect.stringMatching(/limit_exceeded$/)]);
  await workOff(id);
  const { waiting } = await waitingOf.find(own.workspaceId);
  expect(waiting.messages).toBe(4);
  await call('DELETE', `/sms/batches/${id}`);
  await workOff(id);
  expect((await waitingOf.find(own.workspaceId)).waiting.messages).toBe(0);
  await newBatch(api, own, { messages: messagesTo(5) });
  changeSettings({ MAX_WAITING_ROWS: 5_000_000 });
});

test("a list that has outgrown the workspace's room pauses its batch, which goes on where there is room", async () => {
  const contacts = await makeContacts(own, 7);
  const list = await call('POST', '/contact-lists', { name: 'Growing' });
  const add = (contactIds: string[]) =>
    call('POST', `/contact-lists/${list.body.id}/contacts`, { contactIds });
  await add(contacts.slice(0, 4));
  changeSettings({ MAX_WAITING_ROWS: 5 });
  const { id } = await newBatch(api, own, { listIds: [list.body.id], scheduledAt: inHours(2) });
  await add(contacts.slice(4));
  await workLater(id, 2 * 3_600_000 + 1_000);
  expect(await shown(id)).toMatchObject({
    status: 'paused',
    pausedReason: 'limit_reached',
    expanding: true,
    counts: { total: 5, queued: 5 },
  });
  // While there is no room, the batch is checked again, and makes no event.
  await workLater(id);
  expect([(await shown(id)).status, await typesOf(id)]).toEqual(['paused', ['batch.paused']]);
  changeSettings({ MAX_WAITING_ROWS: 5_000_000 });
  await workLater(id);
  expect(await shown(id)).toMatchObject({
    status: 'processing',
    expanding: false,
    counts: { total: 7, queued: 7 },
  });
});

test('the events of a batch are in the feed', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(1), scheduledAt: inHours(1) });
  await call('DELETE', `/sms/batches/${id}`);
  await relay.relayAll();
  const { body } = await call('GET', '/events?types=batch.*');
  expect(body.data.map(({ type, data }: any) => [type, data.id, data.status])).toEqual([
    ['batch.cancelled', id, 'cancelled'],
  ]);
});
