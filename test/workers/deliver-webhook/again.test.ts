import { beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { deleteSettled, listSettlements } from '../../../shared/db/webhooks/settlements.system.ts';
import { findRecoverableCount, insertRecovery } from '../../../shared/db/webhooks/settlements.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { recover, redeliver } from '../../../shared/domain/webhooks/deliveries/again.ts';
import * as deliveries from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import {
  alterWebhook,
  countsOf,
  deliveriesOf,
  dueDelivery,
  makeWebhook,
  nowhere,
  storeEvents,
} from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { settlementsOf } from '../../support/data/webhook-health.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  own = await workspace();
});

/** Ends deliveries as if their own attempts had ended them. */
async function end(ids: string[], status: string): Promise<void> {
  await query(
    'UPDATE webhook_deliveries SET status = ?, due_at = NULL, parked = 0, completed_at = ?, schedule_step = 6 WHERE id IN (?)',
    [status, now(), ids.map(idToBytes)],
  );
}

test('a delivery that has failed is sent again on request: the same id and bytes, a new schedule', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  await deliveries.attempt(id);
  await end([id], 'failed');
  await redeliver(callerOf(own), webhook.id, id);
  expect(await read()).toMatchObject({ status: 'pending', attempts: 1, completedAt: null });
  await deliveries.attempt(id);
  const { dueAt } = await read();
  // The wait is the first of the schedule (300 seconds), not the last.
  expect(Math.round((dueAt!.getTime() - now().getTime()) / 10_000)).toBe(30);
  receiver.respondWith({ status: 200 });
  await advanceClock(301_000);
  await deliveries.attempt(id);
  expect(await read()).toMatchObject({ status: 'delivered', attempts: 3 });
  const [first, ...later] = receiver.requests;
  expect(later).toHaveLength(2);
  for (const request of later) {
    expect(request.headers['webhook-id']).toBe(id);
    expect(request.body.equals(first!.body)).toBe(true);
  }
});

const dayMs = 86_400_000;
const sendings: [string, (webhookId: string, deliveryId: string) => Promise<unknown>][] = [
  ['redeliver', (webhookId, deliveryId) => redeliver(callerOf(own), webhookId, deliveryId)],
  [
    'recover',
    async (webhookId) => {
      await recover(callerOf(own), webhookId, new Date(0));
      await deliveries.settleNext(webhookId, 60_000);
    },
  ],
];
test.each(sendings)(
  'where events are kept for longer, what is older than 7 days has 7 more after a %s',
  async (_name, sendAgain) => {
    changeSettings({ EVENT_RETENTION_DAYS: 30 });
    const receiver = await startWebhookReceiver({ respond: { status: 500 } });
    const { id, webhook, read } = await dueDelivery(own, receiver.url);
    await end([id], 'failed');
    await advanceClock(8 * dayMs);
    await sendAgain(webhook.id, id);
    await deliveries.attempt(id);
    expect(await read()).toMatchObject({ status: 'pending', attempts: 1 });
    await deliveries.expire();
    expect(await read()).toMatchObject({ status: 'pending' });
    await advanceClock(301_000);
    await deliveries.attempt(id);
    expect(await read()).toMatchObject({ status: 'pending', attempts: 2 });
    await advanceClock(7 * dayMs);
    await deliveries.expire();
    expect(await read()).toMatchObject({ status: 'failed', attempts: 2, dueAt: null });
  },
);

test('one that was delivered can be sent once more, and one that waits is sent at once', async () => {
  const receiver = await startWebhookReceiver();
  const delivered = await dueDelivery(own, receiver.url);
  await deliveries.attempt(delivered.id);
  const failing = await startWebhookReceiver({ respond: { status: 500 } });
  const waiting = await dueDelivery(await workspace(), failing.url);
  await deliveries.attempt(waiting.id);
  const workers = await runWorkers(['deliver-webhook']);
  await redeliver(callerOf(own), delivered.webhook.id, delivered.id);
  await receiver.waitFor(2);
  await waitFor('it is delivered again', async () => {
    const { status, attempts } = await delivered.read();
    return status === 'delivered' && attempts === 2;
  });
  await workers.stop();
});

test('what is in a worker’s hand is left to it', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const receiver = await startWebhookReceiver({
    respond: async () => {
      await released;
      return {};
    },
  });
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  const attempt = deliveries.attempt(id);
  await receiver.waitFor(1);
  const before = await read();
  await redeliver(callerOf(own), webhook.id, id);
  expect(await read()).toEqual(before);
  release();
  await attempt;
  expect(await read()).toMatchObject({ status: 'delivered', attempts: 1 });
});

test('only what is one’s own, and is there, can be sent again', async () => {
  const { id, webhook } = await dueDelivery(own, 'http://127.0.0.1:1/');
  const { webhook: second } = await dueDelivery(own, 'http://127.0.0.1:1/');
  const stranger = callerOf(await workspace());
  for (const [caller, webhookId, deliveryId] of [
    [stranger, webhook.id, id],
    [callerOf(own), second.id, id],
    [callerOf(own), webhook.id, id.replace(/.{4}$/, '0000')],
  ] as const)
    await expect(redeliver(caller, webhookId, deliveryId)).rejects.toMatchObject({
      code: 'not_found',
    });
  await expect(recover(stranger, webhook.id, new Date(0))).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('nothing is sent again to a webhook that is switched off', async () => {
  const { id, webhook } = await dueDelivery(own, 'http://127.0.0.1:1/');
  await alterWebhook(webhook.id, { active: 0, auto_disabled: 1 });
  await end([id], 'skipped');
  const refusal = { code: 'webhook_disabled' };
  await expect(redeliver(callerOf(own), webhook.id, id)).rejects.toMatchObject(refusal);
  await expect(recover(callerOf(own), webhook.id, new Date(0))).rejects.toMatchObject(refusal);
});

test('recover sends what failed or was skipped since a time again, nothing else, and paced', async () => {
  const receiver = await startWebhookReceiver();
  const { id: webhookId } = await makeWebhook(own, receiver.url);
  const batch = async (count: number) => {
    const before = new Set((await deliveriesOf(webhookId)).map(({ id }) => id));
    await storeEvents(own, count);
    await relay.relayAll();
    return (await deliveriesOf(webhookId)).map(({ id }) => id).filter((id) => !before.has(id));
  };
  const old = await batch(20);
  await end(old.slice(0, 10), 'failed');
  await end(old.slice(10), 'skipped');
  await advanceClock(60_000);
  const since = now();
  const recent = await batch(1_300);
  await end(recent.slice(0, 700), 'failed');
  await end(recent.slice(700, 1_200), 'skipped');
  await end(recent.slice(1_200), 'delivered');

  expect(await recover(callerOf(own), webhookId, since)).toBe(1_200);
  // No attempt has been made, so nothing has changed yet.
  // The limit of 60 seconds makes one turn enough, even on a slow machine.
  expect(await deliveries.settleNext(webhookId, 60_000)).toBe('done');
  expect(await countsOf(webhookId)).toEqual({
    inRedis: 0,
    parked: 1_200,
    failed: 10,
    skipped: 10,
    delivered: 100,
  });
  await recovery.sweep();
  const { inRedis } = await countsOf(webhookId);
  expect(inRedis).toBeGreaterThanOrEqual(10);
  expect(inRedis).toBeLessThanOrEqual(40);
  await advanceClock(31_000);
  const workers = await runWorkers(['deliver-webhook', 'sweep']);
  await waitFor('all are delivered', async () => (await countsOf(webhookId)).delivered === 1_300);
  await workers.stop();
  const sent = receiver.requests.map(({ headers }) => headers['webhook-id']);
  expect(new Set(sent)).toEqual(new Set(recent.slice(0, 1_200)));
  expect(sent).toHaveLength(1_200);
  expect(await recover(callerOf(own), webhookId, since)).toBe(0);
});

test('recover takes what was made before the time and ended after it, and reads rows of this webhook alone', async () => {
  const { id: webhookId } = await makeWebhook(own, nowhere);
  const { id: other } = await makeWebhook(own, nowhere);
  await storeEvents(own, 60);
  await relay.relayAll();
  const ids = (await deliveriesOf(webhookId)).map(({ id }) => id);
  await end(
    (await deliveriesOf(other)).map(({ id }) => id),
    'failed',
  );
  await end(ids.slice(0, 10), 'failed');
  await end(ids.slice(10, 20), 'skipped');
  await advanceClock(60_000);
  const since = now();
  await end(ids.slice(20, 27), 'failed');
  await end(ids.slice(27, 40), 'skipped');
  await query("UPDATE webhook_deliveries SET event_type = 'webhook.test' WHERE id = ?", [
    idToBytes(ids[39]!),
  ]);

  expect(await rowsRead(() => findRecoverableCount(own.workspaceId, webhookId, since))).toBeLessThan(200);
  expect(await recover(callerOf(own), webhookId, since)).toBe(19);
  expect(await deliveries.settleNext(webhookId, 60_000)).toBe('done');
  const again = (await deliveriesOf(webhookId)).filter(({ dueAt, parked }) => dueAt && parked);
  expect(again.map(({ id }) => id)).toEqual(ids.slice(20, 39));
  expect(await countsOf(webhookId)).toMatchObject({ failed: 10, skipped: 11 });
  expect(await countsOf(other)).toMatchObject({ failed: 60 });
});

test('two wishes to recover are one, from the earlier time on', async () => {
  const { id: webhookId } = await makeWebhook(own, 'http://127.0.0.1:1/');
  await storeEvents(own, 10);
  await relay.relayAll();
  const ids = (await deliveriesOf(webhookId)).map(({ id }) => id);
  await end(ids, 'failed');
  const start = new Date(now().getTime() - 60_000);
  expect(await recover(callerOf(own), webhookId, start)).toBe(10);
  await advanceClock(1_000);
  expect(await recover(callerOf(own), webhookId, new Date(now().getTime() + 1_000))).toBe(0);
  await deliveries.settleNext(webhookId);
  expect((await countsOf(webhookId)).parked).toBe(10);
});

test.each(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0099-12-31T23:59:59Z'])(
  'recover since %s takes all that is kept, ends, and makes no later one wider',
  async (zeroTime) => {
    const { id: webhookId } = await makeWebhook(own, nowhere);
    await storeEvents(own, 3);
    await relay.relayAll();
    await end(
      (await deliveriesOf(webhookId)).map(({ id }) => id),
      'failed',
    );
    expect(await recover(callerOf(own), webhookId, new Date(zeroTime))).toBe(3);
    expect(await deliveries.settleNext(webhookId)).toBe('done');
    expect(await countsOf(webhookId)).toMatchObject({ parked: 3, failed: 0 });
    expect(await settlementsOf(webhookId)).toEqual([]);
  },
);

test('a settlement that is stored with a time of the year 1 ends too, and one asked for meanwhile stays', async () => {
  const { id: webhookId } = await makeWebhook(own, nowhere);
  const { workspaceId } = own;
  const at = now();
  const year1 = new Date('0001-01-01T00:00:00Z');
  await insertRecovery(workspaceId, webhookId, year1, at);
  const [first] = await listSettlements(webhookId);
  await insertRecovery(workspaceId, webhookId, at, at);
  await deleteSettled(first!);
  expect(await settlementsOf(webhookId)).toEqual(['recover']);
  expect(await deliveries.settleNext(webhookId)).toBe('done');
  expect(await settlementsOf(webhookId)).toEqual([]);
});
