// @slow: thousands of deliveries go out.
import { beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import {
  alterWebhook,
  countsOf,
  deliveriesInJobs,
  deliveriesOf,
  forgetDeliveries,
  makeWebhook,
  nowhere,
  storeEvents,
} from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock, clockToleranceMs } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  changeSettings({ WEBHOOK_JOBS_PER_WEBHOOK: 500 });
  await forgetDeliveries();
  own = await workspace();
});

async function jobsInRedis(): Promise<number> {
  const counts = await Promise.all(
    ['deliver-webhook', 'deliver-webhook-retry'].map((queue) =>
      queueOf(queue).getJobCountByTypes('waiting', 'delayed', 'active', 'prioritized'),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The columns of a webhook that has failed for an hour, as the webhook's health stores them. */
const outage = () => ({ failing_since: new Date(now().getTime() - 3_600_000), consecutive_failures: 50 });

test('Redis holds at most 500 deliveries of a webhook while 5,000 wait, and all arrive, first due first', async () => {
  const receiver = await startWebhookReceiver();
  const { id } = await makeWebhook(own, receiver.url);
  await storeEvents(own, 5_000);
  await relay.relayAll();
  expect(await countsOf(id)).toMatchObject({ inRedis: 500, parked: 4_500 });
  expect(await deliveriesInJobs()).toHaveLength(500);
  await recovery.sweep();
  await recovery.sweep();
  expect(await deliveriesInJobs()).toHaveLength(500);
  expect(await jobsInRedis()).toBe(50);

  // No sweep runs here: only deliveries that end let in the next ones.
  const workers = await runWorkers(['deliver-webhook']);
  const seen: { rows: number; jobs: number }[] = [];
  await waitFor('all are delivered', async () => {
    const { inRedis: rows, delivered } = await countsOf(id);
    seen.push({ rows, jobs: await jobsInRedis() });
    return delivered === 5_000;
  });
  await workers.stop();
  expect(Math.max(...seen.map(({ rows }) => rows))).toBeLessThanOrEqual(500);
  // A job ends a moment after its rows.
  expect(Math.max(...seen.map(({ jobs }) => jobs))).toBeLessThan(500);
  expect(receiver.requests).toHaveLength(5_000);
  const places = new Map((await deliveriesOf(id)).map((delivery, place) => [delivery.id, place]));
  const offBy = receiver.requests.map(({ headers }, index) =>
    Math.abs(places.get(headers['webhook-id']!)! - index),
  );
  // Deliveries let in together arrive in any order; on a stalled machine a few are handed back and come later.
  expect(offBy.filter((places) => places > 500).length).toBeLessThan(250);
});

test('what comes while others wait goes behind them', async () => {
  changeSettings({ WEBHOOK_JOBS_PER_WEBHOOK: 10 });
  const { id } = await makeWebhook(own, nowhere);
  await storeEvents(own, 30);
  await relay.relayAll();
  const [first] = await deliveriesOf(id);
  await query("UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL WHERE id = ?", [
    idToBytes(first!.id),
  ]);
  await storeEvents(own, 5);
  await relay.relayAll();
  await recovery.sweep();
  const [admitted, parked] = [false, true].map(async (isParked) =>
    (await deliveriesOf(id)).filter(({ status, parked }) => status === 'pending' && parked === isParked),
  );
  expect(await admitted).toHaveLength(10);
  expect(await parked).toHaveLength(24);
  for (const { id: early } of (await admitted)!)
    for (const late of (await parked)!) expect(early < late.id).toBe(true);
});

test('deliveries that are due later leave half of the places of their webhook to others', async () => {
  changeSettings({ WEBHOOK_JOBS_PER_WEBHOOK: 2 });
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const { id } = await makeWebhook(own, receiver.url);
  await storeEvents(own, 2);
  await relay.relayAll();
  for (const delivery of await deliveriesOf(id)) await attempt(delivery.id);
  await recovery.sweep();
  await storeEvents(own, 1);
  await relay.relayAll();
  await recovery.sweep();
  const [first, second, fresh] = await deliveriesOf(id);
  expect([first, second].filter((delivery) => delivery!.parked)).toHaveLength(1);
  expect([first, second, fresh]).toMatchObject([
    { attempts: 1 },
    { attempts: 1 },
    { attempts: 0, parked: false },
  ]);
});

test('a webhook in an outage gets a few deliveries at a time, in the lane of retries', async () => {
  const { id } = await makeWebhook(own, nowhere);
  await alterWebhook(id, outage());
  await storeEvents(own, 600);
  await relay.relayAll();
  expect(await countsOf(id)).toMatchObject({ inRedis: 10, parked: 590 });
  expect(await queueOf('deliver-webhook').getWaitingCount()).toBe(0);
  expect(await deliveriesInJobs(['deliver-webhook-retry'])).toHaveLength(10);
});

test('after an outage the backlog is let out slowly', async () => {
  const receiver = await startWebhookReceiver();
  const { id } = await makeWebhook(own, receiver.url);
  await alterWebhook(id, outage());
  await storeEvents(own, 1_000);
  await relay.relayAll();
  await query('UPDATE webhook_deliveries SET parked = 1 WHERE webhook_id = ?', [idToBytes(id)]);
  await forgetRedis();
  // One delivery, the probe, gets through.
  const [probe] = await deliveriesOf(id);
  const before = now().getTime();
  await attempt(probe!.id);
  expect(await countsOf(id)).toMatchObject({ delivered: 1, parked: 999 });
  const seen: number[] = [];
  for (let step = 0; step < 5; step += 1) {
    await recovery.sweep();
    const { inRedis } = await countsOf(id);
    // On a busy machine more time has passed than the steps add up to.
    const elapsedMs = now().getTime() - before + clockToleranceMs;
    expect(inRedis).toBeGreaterThanOrEqual(10);
    expect(inRedis).toBeLessThanOrEqual(10 * 2 ** Math.floor(elapsedMs / 5_000));
    seen.push(inRedis);
    await advanceClock(5_000);
  }
  expect(seen.at(-1)).toBeGreaterThan(seen[0]!);
  await advanceClock(30_000);
  await recovery.sweep();
  expect((await countsOf(id)).inRedis).toBe(500);
});

test('one failure after a webhook is switched on by hand does not end the slow start', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const { id } = await makeWebhook(own, receiver.url);
  await alterWebhook(id, { active: 0 });
  await storeEvents(own, 600);
  await relay.relayAll();
  const before = now().getTime();
  await transaction(() => webhooks.change(callerOf(own), id, { active: true }));
  await recovery.sweep();
  const [first] = (await deliveriesOf(id)).filter(({ parked }) => !parked);
  await attempt(first!.id);
  expect(receiver.requests).toHaveLength(1);
  await recovery.sweep();
  const elapsedMs = now().getTime() - before + clockToleranceMs;
  expect((await countsOf(id)).inRedis).toBeLessThanOrEqual(10 * 2 ** Math.floor(elapsedMs / 5_000));
});

test('what a customer pauses waits, and arrives when they go on', async () => {
  const receiver = await startWebhookReceiver();
  const { id } = await makeWebhook(own, receiver.url);
  await storeEvents(own, 20);
  await relay.relayAll();
  await alterWebhook(id, { active: 0 });
  await storeEvents(own, 20);
  const workers = await runWorkers(['relay-events', 'deliver-webhook', 'sweep']);
  await relay.relayAll();
  await waitFor('all wait in their rows', async () => (await countsOf(id)).parked === 40);
  await recovery.sweep();
  expect(await countsOf(id)).toMatchObject({ inRedis: 0, parked: 40 });
  expect(receiver.requests).toEqual([]);
  await advanceClock(6 * 86_400_000);
  await alterWebhook(id, { active: 1 });
  await waitFor('all are delivered', async () => (await countsOf(id)).delivered === 40);
  expect(receiver.requests).toHaveLength(40);
  expect((await deliveriesOf(id)).every(({ attempts }) => attempts === 1)).toBe(true);
  await workers.stop();
});

test('retries that are due later leave room for what is due now', async () => {
  changeSettings({ WEBHOOK_JOBS_PER_WEBHOOK: 20 });
  const { id } = await makeWebhook(own, nowhere);
  await storeEvents(own, 40);
  await relay.relayAll();
  await query('UPDATE webhook_deliveries SET parked = 1, due_at = ? WHERE webhook_id = ?', [
    new Date(now().getTime() + 300_000),
    idToBytes(id),
  ]);
  await recovery.sweep();
  expect(await countsOf(id)).toMatchObject({ inRedis: 10, parked: 30 });
  await storeEvents(own, 30);
  await relay.relayAll();
  expect(await countsOf(id)).toMatchObject({ inRedis: 20, parked: 50 });
  const due = (await deliveriesOf(id)).filter(({ parked, dueAt }) => !parked && dueAt! <= now());
  expect(due).toHaveLength(10);
});
