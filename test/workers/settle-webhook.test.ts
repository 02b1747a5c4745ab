// @slow: it starts processes or servers of its own.
import mysql from 'mysql2/promise';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { config } from '../../shared/config/config.ts';
import { outsideTransaction, query, transaction } from '../../shared/db/client.ts';
import { insertSkips } from '../../shared/db/webhooks/settlements.system.ts';
import * as relay from '../../shared/domain/events/relay.ts';
import * as deliveries from '../../shared/domain/webhooks/deliveries/deliveries.ts';
import { settle } from '../../shared/domain/webhooks/deliveries/settle.ts';
import { sendTest } from '../../shared/domain/webhooks/send-test.ts';
import * as webhooks from '../../shared/domain/webhooks/webhooks.ts';
import * as recovery from '../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { settleWebhook } from '../../shared/jobs/settle-webhook.ts';
import { queueOf } from '../../shared/queue/queue.ts';
import { callerOf } from '../support/data/accepted-email.ts';
import {
  alterWebhook,
  countsOf,
  deliveriesOf,
  makeWebhook,
  nowhere,
  storeEvents,
} from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { watchLockWaits } from '../support/database/lock-wait.ts';
import { rowsRead } from '../support/database/rows-read.ts';
import { startWorkerProcess } from '../support/processes/processes.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { answers, startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { advanceClock } from '../support/time/advance-clock.ts';
import { waitFor, waitUnlessAnswered } from '../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  own = await workspace();
  await forgetRedis();
});

const settlements = async () =>
  Number((await query('SELECT COUNT(*) AS n FROM webhook_settlements'))[0]!['n']);

const hourAgo = () => new Date(now().getTime() - 3_600_000);

async function waiting(count: number, url = nowhere): Promise<string> {
  const { id } = await makeWebhook(own, url);
  await storeEvents(own, count);
  await relay.relayAll();
  return id;
}

/** Switches a webhook off in the way that the webhook's health does it. */
const switchOff = (id: string) =>
  transaction(async () => {
    await alterWebhook(id, { active: 0, auto_disabled: 1 });
    await settle(own.workspaceId, id);
  });

test('5,000 that wait for a webhook that is switched off are skipped, though the worker is killed half way', async () => {
  const id = await waiting(5_000);
  await switchOff(id);
  const first = await startWorkerProcess(['settle-webhook']);
  await waitFor('it has begun', async () => (await countsOf(id)).skipped > 0, { intervalMs: 1 });
  await first.kill();
  await forgetRedis();
  const { skipped, parked, inRedis } = await countsOf(id);
  expect(skipped + parked + inRedis).toBe(5_000);

  const workers = await runWorkers(['settle-webhook', 'sweep']);
  await waitFor('all are skipped', async () => (await countsOf(id)).skipped === 5_000);
  await waitFor('nothing is left to do', async () => (await settlements()) === 0);
  await workers.stop();
  for (const delivery of (await deliveriesOf(id)).slice(0, 10)) {
    expect(delivery).toMatchObject({ dueAt: null, parked: false, attempts: 0 });
    expect(delivery.completedAt).not.toBeNull();
  }
});

test('a test that is on its way to a webhook is not skipped with what waits there', async () => {
  const id = await waiting(3);
  await transaction(() => sendTest(callerOf(own), id, '2026-11-01'));
  await relay.relayAll();
  await switchOff(id);
  const workers = await runWorkers(['settle-webhook']);
  await waitFor('nothing is left to do', async () => (await settlements()) === 0);
  await workers.stop();
  const states = (await deliveriesOf(id)).map(({ eventType, status }) => [eventType, status]);
  const skipped = ['email.queued', 'skipped'];
  expect(states).toEqual([skipped, skipped, skipped, ['webhook.test', 'pending']]);
});

test('the deliveries of a deleted webhook are settled, and no others', async () => {
  const kept = await makeWebhook(own, nowhere);
  const id = await waiting(30);
  const workers = await runWorkers(['settle-webhook', 'sweep']);
  await transaction(() => webhooks.remove(callerOf(own), id));
  await waitFor('they are skipped', async () => (await countsOf(id)).skipped === 30);
  expect(await countsOf(kept.id)).toMatchObject({ inRedis: 30, skipped: 0 });
  await workers.stop();
});

test('what slipped in behind a webhook that was switched off or deleted is found and settled too', async () => {
  const [off, gone] = [await waiting(5), await waiting(5)];
  await alterWebhook(off, { active: 0, auto_disabled: 1 });
  await query('DELETE FROM webhooks WHERE id = ?', [idToBytes(gone)]);
  for (const id of [off, gone])
    await query('UPDATE webhook_deliveries SET parked = 1 WHERE webhook_id = ?', [idToBytes(id)]);
  const workers = await runWorkers(['settle-webhook', 'sweep']);
  for (const id of [off, gone])
    await waitFor('they are skipped', async () => {
      const { skipped, parked, inRedis } = await countsOf(id);
      return skipped >= 5 && parked + inRedis === 0;
    });
  await workers.stop();
});

test('what is in a worker’s hand is left to it, and settled after it', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const receiver = await startWebhookReceiver({
    respond: async () => {
      await released;
      return { status: 500 };
    },
  });
  const id = await waiting(3, receiver.url);
  const [held] = await deliveriesOf(id);
  const attempt = deliveries.attempt(held!.id);
  await receiver.waitFor(1);
  await switchOff(id);
  expect(await deliveries.settleNext(id)).toMatchObject({ retryAt: expect.any(Date) });
  expect(await countsOf(id)).toMatchObject({ skipped: 2, inRedis: 1 });
  release();
  await attempt;
  expect(await deliveries.settleNext(id)).toBe('done');
  expect(await countsOf(id)).toMatchObject({ skipped: 3, inRedis: 0, parked: 0 });
  expect((await deliveriesOf(id))[0]).toMatchObject({ attempts: 1, responseStatus: 500, dueAt: null });
});

test('a webhook that is switched on again meanwhile keeps what has not been skipped yet', async () => {
  const receiver = await startWebhookReceiver();
  const id = await waiting(10, receiver.url);
  await switchOff(id);
  await transaction(() => webhooks.change(callerOf(own), id, { active: true }));
  expect(await deliveries.settleNext(id)).toBe('done');
  expect(await countsOf(id)).toMatchObject({ skipped: 0, inRedis: 10 });
  // The deliveries also stay when a request to settle remains after the webhook's state has changed.
  await settle(own.workspaceId, id);
  expect(await deliveries.settleNext(id)).toBe('done');
  expect(await countsOf(id)).toMatchObject({ skipped: 0, inRedis: 10 });
  expect(await settlements()).toBe(0);
});

test('a sweep that saw a webhook off, and comes late, asks for no skips once it is switched on again', async () => {
  const id = await waiting(10);
  await switchOff(id);
  const waits = await watchLockWaits();
  const late = await transaction(async () => {
    await webhooks.change(callerOf(own), id, { active: true });
    let isDone = false;
    const inserted = outsideTransaction(() => transaction(() => insertSkips([id], now()))).finally(() => {
      isDone = true;
    });
    await waitFor('it to wait or to be done', async () => isDone || (await waits.look()).length > 0);
    return { inserted };
  });
  await late.inserted;
  await waits.close();
  expect(await settlements()).toBe(0);
  await transaction(() => insertSkips([id], now()));
  expect(await settlements()).toBe(0);
  expect(await countsOf(id)).toMatchObject({ skipped: 0, inRedis: 10 });
});

test('a webhook has one job, whoever asks for it, and the sweep makes it again', async () => {
  const id = await waiting(3, (await startWebhookReceiver({ respond: answers.hang })).url);
  await switchOff(id);
  await recovery.sweep();
  await recovery.sweep();
  // The job of another test's webhook may come late.
  const jobs = async () =>
    (await queueOf(settleWebhook.lanes.default).getWaiting()).filter(({ data }) =>
      JSON.stringify(data).includes(id),
    ).length;
  await waitFor('the job is there', async () => (await jobs()) === 1);
  await forgetRedis();
  await recovery.sweep();
  await waitFor('the job is there again', async () => (await jobs()) === 1);
  await deliveries.settleNext(id);
});

test('a settlement of 1,200 takes three turns, after each of which the job is given back', async () => {
  const id = await waiting(1_200);
  await switchOff(id);
  for (const skipped of [500, 1_000]) {
    expect(await deliveries.settleNext(id, 0)).toEqual({ retryAt: expect.any(Date) });
    expect(await countsOf(id)).toMatchObject({ skipped });
  }
  expect(await deliveries.settleNext(id, 0)).toBe('done');
  expect(await countsOf(id)).toMatchObject({ skipped: 1_200, inRedis: 0, parked: 0 });
  expect(await settlements()).toBe(0);
});

test('the turns of a recovery do not read again what earlier turns have read', async () => {
  const id = await waiting(4_000);
  await query(
    `UPDATE webhook_deliveries SET status = 'failed', due_at = NULL, parked = 0, completed_at = ? WHERE webhook_id = ?`,
    [hourAgo(), idToBytes(id)],
  );
  const since = now();
  await storeEvents(own, 1_200);
  await relay.relayAll();
  await query(
    `UPDATE webhook_deliveries SET status = 'failed', due_at = NULL, parked = 0, completed_at = ?
     WHERE webhook_id = ? AND status = 'pending'`,
    [now(), idToBytes(id)],
  );
  await transaction(() => webhooks.recover(callerOf(own), id, since));
  const turn = (end: unknown) =>
    rowsRead(async () => expect(await deliveries.settleNext(id, 0)).toEqual(end));
  const [first, second, third] = [
    await turn({ retryAt: expect.any(Date) }),
    await turn({ retryAt: expect.any(Date) }),
    await turn('done'),
  ];
  expect(await countsOf(id)).toMatchObject({ failed: 4_000 });
  expect(second).toBeLessThan(first - 3_000);
  expect(third).toBeLessThan(first - 3_000);
});

test.each([2, 0])(
  'a recovery takes a delivery too that failed before it, and whose outcome is written while it runs, beside %i others',
  async (others) => {
    const receiver = await startWebhookReceiver();
    const id = await waiting(1 + others, receiver.url);
    const [held] = await deliveriesOf(id);
    await query('UPDATE webhook_deliveries SET schedule_step = 99 WHERE id = ?', [idToBytes(held!.id)]);
    await query(
      `UPDATE webhook_deliveries SET status = 'failed', due_at = NULL, completed_at = ? WHERE webhook_id = ? AND id <> ?`,
      [now(), idToBytes(id), idToBytes(held!.id)],
    );
    const locker = await mysql.createConnection(config.MYSQL_URL);
    onTestFinished(() => locker.destroy());
    receiver.respondWith(async () => {
      await locker.query('START TRANSACTION');
      await locker.query('SELECT * FROM webhook_deliveries WHERE id = ? FOR UPDATE', [idToBytes(held!.id)]);
      return { status: 500 };
    });
    const attempted = deliveries.attempt(held!.id);
    const waits = await watchLockWaits();
    const isWaiting = async () => (await waits.look()).length > 0;
    await waitUnlessAnswered([attempted], waitFor('the outcome waits', isWaiting, { timeoutMs: 30_000 }));
    await waits.close();
    await advanceClock(1_000);
    await transaction(() => webhooks.recover(callerOf(own), id, hourAgo()));
    expect(await deliveries.settleNext(id)).toEqual({ retryAt: expect.any(Date) });
    expect(await countsOf(id)).toMatchObject({ parked: others, inRedis: 1, failed: 0 });
    await locker.query('ROLLBACK');
    await attempted;
    expect(await countsOf(id)).toMatchObject({ parked: others, failed: 1 });
    expect(await deliveries.settleNext(id)).toBe('done');
    expect(await countsOf(id)).toMatchObject({ parked: others + 1, failed: 0 });
    expect(await settlements()).toBe(0);
  },
);

test('a recovery takes what the relay skips, having read the webhook before it was switched on', async () => {
  const { id } = await makeWebhook(own, nowhere);
  await alterWebhook(id, { active: 0, auto_disabled: 1 });
  await storeEvents(own, 1);
  const locker = await mysql.createConnection(config.MYSQL_URL);
  onTestFinished(() => locker.destroy());
  await locker.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  await locker.query('START TRANSACTION');
  // This locks the place of the delivery that the relay will insert.
  await locker.query('SELECT * FROM webhook_deliveries WHERE webhook_id = ? FOR UPDATE', [idToBytes(id)]);
  const waits = await watchLockWaits();
  const relayed = relay.relayAll();
  const isInserting = async () => (await waits.look()).length === 1;
  await waitUnlessAnswered([relayed], waitFor('the relay waits', isInserting, { timeoutMs: 30_000 }));
  await transaction(() => webhooks.change(callerOf(own), id, { active: true }));
  await transaction(() => webhooks.recover(callerOf(own), id, hourAgo()));
  let isDone = false;
  const settled = deliveries.settleNext(id).finally(() => (isDone = true));
  await waitFor('it to wait or to be done', async () => isDone || (await waits.look()).length === 2);
  await locker.query('ROLLBACK');
  await waits.close();
  expect(await relayed).toBe(1);
  expect(await settled).toBe('done');
  expect(await countsOf(id)).toMatchObject({ parked: 1, skipped: 0 });
});
