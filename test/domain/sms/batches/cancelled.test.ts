import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { query } from '../../../../shared/db/client.ts';
import { listSms } from '../../../../shared/db/sms/listings.ts';
import { claimSms, updateSmsHandoverStarted } from '../../../../shared/db/sms/messages.system.ts';
import * as balance from '../../../../shared/domain/sms/balance.ts';
import * as smsDelivery from '../../../../shared/domain/sms/delivery/delivery.ts';
import * as prices from '../../../../shared/domain/sms/prices.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import type { Submission } from '../../../../shared/transports/sms.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { batchOf, messagesTo, newBatch, workLater, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { useTextGateway } from '../../../support/servers/text-gateway.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

// Texts of a batch that a worker is sending when the batch is cancelled.
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
  await balance.add(own.workspaceId, credit, null);
});

const credit = 10_000;
const part = 300;
const shown = (id: string) => batchOf(api, own, id);
const cancel = async (id: string) =>
  expect((await api.request('DELETE', `/v2/sms/batches/${id}`, { key: own.key })).status).toBe(200);
const idsOf = async (id: string) =>
  (await listSms(own.workspaceId, { batchId: id }, { limit: 200, before: null })).records.map(
    (message) => message.id,
  );
const isOver = async (id: string) =>
  (await query('SELECT status FROM sms_batches WHERE id = ?', [idToBytes(id)]))[0]!['status'] === 'over';

test('a text that its gateway gives back after the batch was cancelled does not go out any more', async () => {
  const gateway = useTextGateway();
  const { id } = await newBatch(api, own, { messages: messagesTo(3) });
  await workOff(id);
  const [text] = await idsOf(id);
  const answer = Promise.withResolvers<Submission>();
  gateway.says = () => answer.promise;
  const trying = smsDelivery.attempt(text!);
  await waitFor('the gateway has it', () => gateway.taken.length === 1);

  await cancel(id);
  await workOff(id);
  expect((await shown(id)).counts).toMatchObject({ queued: 1, cancelled: 2 });
  expect(await isOver(id)).toBe(false);
  answer.resolve({ kind: 'later', detail: 'Later' });
  await trying;
  await workLater(id);
  expect((await shown(id)).counts).toMatchObject({ total: 3, queued: 0, cancelled: 3 });
  expect([await isOver(id), await balance.find(own.workspaceId)]).toEqual([true, credit]);
  expect([await smsDelivery.attempt(text!), gateway.taken.length]).toEqual(['dropped', 1]);
});

test('a text that a worker has claimed and not yet handed over is cancelled at once, and the worker lets it be', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(1) });
  await workOff(id);
  const [text] = await idsOf(id);
  const at = now();
  const claimed = await claimSms({ id: text!, at, until: new Date(at.getTime() + 60_000) });
  await cancel(id);
  await workOff(id);
  expect((await shown(id)).counts).toMatchObject({ queued: 0, cancelled: 1 });
  expect(await updateSmsHandoverStarted({ id: text!, token: claimed!.token, at: now() })).toBe(false);
  expect([await isOver(id), await balance.find(own.workspaceId)]).toEqual([true, credit]);
});

test('cancelling does not wait for a text that may have gone out: it stays as it is, and is paid for', async () => {
  const gateway = useTextGateway();
  const { id } = await newBatch(api, own, { messages: messagesTo(2) });
  await workOff(id);
  const [text] = await idsOf(id);
  gateway.says = () => Promise.resolve({ kind: 'unavailable', detail: 'No answer' });
  await smsDelivery.attempt(text!);
  await cancel(id);
  await workOff(id);
  expect((await shown(id)).counts).toMatchObject({ queued: 1, cancelled: 1 });
  expect([await isOver(id), await balance.find(own.workspaceId)]).toEqual([true, credit - part]);
});
