import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { claimBatch } from '../../../../shared/db/sms/batches/batches.system.ts';
import * as apiKeys from '../../../../shared/domain/api-keys/api-keys.ts';
import * as balance from '../../../../shared/domain/sms/balance.ts';
import * as smsBatches from '../../../../shared/domain/sms/batches/batches.ts';
import { openChunks } from '../../../../shared/domain/sms/batches/work/chunks.ts';
import { expand } from '../../../../shared/domain/sms/batches/work/expand.ts';
import { leaseEnd, release } from '../../../../shared/domain/sms/batches/work/held.ts';
import * as prices from '../../../../shared/domain/sms/prices.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { batchOf, messagesTo, newBatch, workLater, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../../support/database/database.ts';
import { runWorkers } from '../../../support/processes/run-workers.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

// Batches that wait for a balance: whose turn it is, and how much is enough.
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  own = await textingWorkspace();
  await loadPrice('0.0300');
});

const part = 300;
const loadPrice = (gbp: string) => prices.load(`country,gbp,eur,validFrom\nGB,${gbp},0.0350,2020-01-01\n`);
const credit = (amount: number) => balance.add(own.workspaceId, amount, null);
const left = () => balance.find(own.workspaceId);
const shown = (id: string) => batchOf(api, own, id);
const queuedOf = async (id: string) => (await shown(id)).counts.queued;
const call = (method: string, path: string, body?: object) =>
  api.request(method, `/v2${path}`, { key: own.key, ...(body && { body }) });
async function pausedBatch(body: object): Promise<string> {
  const { id } = await newBatch(api, own, { content: 'Hello', ...body });
  await workOff(id);
  expect(await shown(id)).toMatchObject({ status: 'paused', pausedReason: 'insufficient_balance' });
  return id;
}

test('an older batch that has gone on is paid before a younger one, also when that is looked at first', async () => {
  await credit(1);
  const older = await pausedBatch({ messages: messagesTo(2) });
  const younger = await pausedBatch({ messages: messagesTo(2, 10) });
  await credit(part);
  expect((await call('POST', `/sms/batches/${older}/resume`)).body.status).toBe('processing');
  await smsBatches.wakePaused(own.workspaceId);
  await workOff(younger);
  expect([await queuedOf(older), await queuedOf(younger), await left()]).toEqual([0, 0, part + 1]);
  await workOff(older);
  expect([await queuedOf(older), await left()]).toEqual([1, 1]);
  // Once the older one is paid, it is the younger one's turn.
  await credit(3 * part);
  await workLater(older);
  await workLater(younger);
  expect([await queuedOf(older), await queuedOf(younger), await left()]).toEqual([2, 2, 1]);
});

test('a batch goes on when the price has fallen to what is left', async () => {
  await credit(part - 1);
  const id = await pausedBatch({ messages: messagesTo(1) });
  await workLater(id);
  expect((await shown(id)).status).toBe('paused');
  await loadPrice('0.0299');
  await workLater(id);
  expect([await queuedOf(id), await left()]).toEqual([1, 0]);
});

test('a batch goes on when the recipient that cost more than is left was suppressed', async () => {
  const [first, second] = messagesTo(2);
  await credit(part);
  const id = await pausedBatch({ messages: [{ ...first, content: 'x'.repeat(161) }, second] });
  await call('POST', '/suppressions', { number: first!.recipient });
  expect((await call('POST', `/sms/batches/${id}/resume`)).body.status).toBe('processing');
  await workOff(id);
  expect((await shown(id)).counts).toMatchObject({ waiting: 0, failed: 1, queued: 1 });
  expect(await left()).toBe(0);
});

test("a batch that a message of many parts keeps at the key's limit goes on when its recipient was suppressed", async () => {
  const { key } = await apiKeys.issue(own.workspaceId, {});
  const body = { limits: { dailyParts: 1 } };
  expect((await api.request('PATCH', `/v2/api-keys/${own.keyId}`, { key, body })).status).toBe(200);
  const [first, second] = messagesTo(2);
  const { id } = await newBatch(api, own, { messages: [{ ...first, content: 'x'.repeat(161) }, second] });
  await workOff(id);
  expect(await shown(id)).toMatchObject({ status: 'paused', pausedReason: 'limit_reached' });
  await workLater(id);
  expect((await shown(id)).status).toBe('paused');
  await call('POST', '/suppressions', { number: first!.recipient });
  await workLater(id);
  expect((await shown(id)).counts).toMatchObject({ waiting: 0, failed: 1, queued: 1 });
});

const suppress = async (rows: { recipient: string }[]) => {
  for (const { recipient } of rows) await call('POST', '/suppressions', { number: recipient });
};

test('a batch with nothing left of its balance goes on when its other recipients were suppressed', async () => {
  const messages = messagesTo(3);
  await credit(part);
  const id = await pausedBatch({ messages });
  expect(await left()).toBe(0);
  await suppress(messages.slice(2));
  expect((await call('POST', `/sms/batches/${id}/resume`)).body.status).toBe('paused');
  await suppress(messages.slice(1, 2));
  expect((await call('POST', `/sms/batches/${id}/resume`)).body.status).toBe('processing');
  await workOff(id);
  expect((await shown(id)).counts).toMatchObject({ waiting: 0, failed: 2, queued: 1 });
});

test("a batch with nothing left of its key's limit goes on when its other recipients were suppressed", async () => {
  const { key } = await apiKeys.issue(own.workspaceId, {});
  const body = { limits: { dailyParts: 1 } };
  expect((await api.request('PATCH', `/v2/api-keys/${own.keyId}`, { key, body })).status).toBe(200);
  const messages = messagesTo(3);
  const { id } = await newBatch(api, own, { messages });
  await workOff(id);
  expect(await shown(id)).toMatchObject({ status: 'paused', pausedReason: 'limit_reached' });
  await suppress(messages.slice(1));
  await workLater(id);
  expect((await shown(id)).counts).toMatchObject({ waiting: 0, failed: 2, queued: 1 });
});

test('a message that costs nothing does not wait for an older batch to be paid', async () => {
  const messages = messagesTo(1, 10);
  await credit(1);
  const older = await pausedBatch({ messages: messagesTo(1) });
  const younger = await pausedBatch({ messages });
  await suppress(messages);
  await workLater(younger);
  expect((await shown(younger)).counts).toMatchObject({ waiting: 0, failed: 1 });
  expect((await shown(older)).status).toBe('paused');
});

test('an older batch stays the first to be paid while its messages cost nothing', async () => {
  const [first, second] = messagesTo(2);
  await credit(part - 1);
  const older = await pausedBatch({ messages: [first, second] });
  const younger = await pausedBatch({ messages: messagesTo(1, 10) });
  await suppress([first!]);
  expect((await call('POST', `/sms/batches/${older}/resume`)).body.status).toBe('processing');
  await makeNextRow(older);
  expect((await shown(older)).counts).toMatchObject({ waiting: 1, failed: 1 });
  await credit(1);
  await workLater(younger, 21_000);
  expect([await queuedOf(younger), await left()]).toEqual([0, part]);
  await workOff(older);
  expect([await queuedOf(older), await left()]).toEqual([1, 0]);
});

/** Does what a worker does in one step of a batch whose chunks have one row, and gives the batch back. */
async function makeNextRow(id: string): Promise<void> {
  const { batch, token } = (await claimBatch({ id, at: now(), until: leaseEnd() }))!;
  const hold = { batchId: id, token };
  const chunks = openChunks();
  await expand(hold, batch, chunks, { size: 1, givesUp: false, goesOn: () => false });
  await chunks.close();
  await release(hold, now());
}

test('workers share a balance out to two batches at once: to the last part, and then to the older one first', async () => {
  await forgetRedis();
  const rows = 40;
  await credit(25 * part + 1);
  const [older, younger] = [
    (await newBatch(api, own, { messages: messagesTo(rows) })).id,
    (await newBatch(api, own, { messages: messagesTo(rows, rows) })).id,
  ];
  const workers = await runWorkers(['expand-batch', 'release-sms', 'sweep']);
  const arePaused = async () =>
    (await Promise.all([shown(older), shown(younger)])).every(({ status }) => status === 'paused');
  await waitFor('both are paused', arePaused, { timeoutMs: 120_000 });
  const [ofOlder, ofYounger] = [await queuedOf(older), await queuedOf(younger)];
  expect([ofOlder + ofYounger, await left()]).toEqual([25, 1]);

  await credit((rows - ofOlder) * part);
  await waitFor('the older one has all', async () => (await queuedOf(older)) === rows, {
    timeoutMs: 120_000,
  });
  expect([await queuedOf(younger), await left()]).toEqual([ofYounger, 1]);
  await credit((rows - ofYounger) * part);
  await waitFor('the younger one has all', async () => (await queuedOf(younger)) === rows, {
    timeoutMs: 120_000,
  });
  await workers.stop();
  expect(await left()).toBe(1);
});
