import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { runWithRequest } from '../../../shared/common/request-context.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt as attemptEmail } from '../../../shared/domain/email/delivery/delivery.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { acceptEmail, callerOf } from '../../support/data/accepted-email.ts';
import { deliveriesOf, dueDelivery, makeWebhook, nowhere } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock, clockToleranceMs } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

beforeAll(async () => {
  const sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
});

const retryOf = async (deliveryId: string) =>
  (await queueOf('deliver-webhook-retry').getJobs(['waiting', 'delayed', 'active'])).find(
    ({ data }) => data.deliveryId === deliveryId,
  );
const typesOf = async (webhookId: string) =>
  (await deliveriesOf(webhookId)).map(({ eventType }) => eventType);

test('a webhook gets the events that it subscribes to, one delivery each', async () => {
  const own = await workspace();
  const all = await makeWebhook(own, nowhere, ['email.queued', 'email.sent']);
  const some = await makeWebhook(own, nowhere, ['email.sent', 'email.bounced']);
  const none = await makeWebhook(own, nowhere, ['sms.received']);
  const { id } = await acceptEmail(own);
  await relay.relayAll();
  await attemptEmail(id);
  await relay.relayAll();
  await relay.relayAll();
  expect(await typesOf(all.id)).toEqual(['email.queued', 'email.sent']);
  expect(await typesOf(some.id)).toEqual(['email.sent']);
  expect(await typesOf(none.id)).toEqual([]);
});

test('two webhooks with one URL get a delivery each, with an id of its own', async () => {
  const own = await workspace();
  const url = 'https://example.com/hook';
  const hooks = [await makeWebhook(own, url), await makeWebhook(own, url, ['email.queued', 'email.sent'])];
  await acceptEmail(own);
  await relay.relayAll();
  const [[first], [second]] = [await deliveriesOf(hooks[0]!.id), await deliveriesOf(hooks[1]!.id)];
  expect(first!.eventId).toBe(second!.eventId);
  expect(first!.id).not.toBe(second!.id);
});

// Shows A5
test('a webhook gets nothing of another workspace', async () => {
  const [own, other] = [await workspace(), await workspace()];
  const { id } = await makeWebhook(own, nowhere);
  await acceptEmail(other);
  await relay.relayAll();
  expect(await deliveriesOf(id)).toEqual([]);
});

test('a webhook that is made after an event gets only later ones', async () => {
  const own = await workspace();
  await acceptEmail(own);
  await relay.relayAll();
  const { id } = await makeWebhook(own, nowhere);
  await relay.relayAll();
  expect(await deliveriesOf(id)).toEqual([]);
  await acceptEmail(own);
  await relay.relayAll();
  expect(await deliveriesOf(id)).toHaveLength(1);
});

test('the deliveries of a deleted webhook stop: what is pending is skipped, and not tried again', async () => {
  const own = await workspace();
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  await attempt(id);
  expect(await read()).toMatchObject({ status: 'pending', attempts: 1 });
  await webhooks.remove(callerOf(own), webhook.id);
  await advanceClock(301_000);
  expect(await attempt(id)).toBe('done');
  expect(await read()).toMatchObject({ status: 'skipped', attempts: 1, dueAt: null, responseStatus: 500 });
  expect((await read()).completedAt).not.toBeNull();
  expect(await attempt(id)).toBe('dropped');
  await acceptEmail(own);
  await relay.relayAll();
  expect(await deliveriesOf(webhook.id)).toHaveLength(1);
  expect(receiver.requests).toHaveLength(1);
});

test('what a switched-off webhook misses is kept as skipped', async () => {
  const own = await workspace();
  const receiver = await startWebhookReceiver();
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  await query('UPDATE webhooks SET auto_disabled = 1, active = 0 WHERE id = ?', [idToBytes(webhook.id)]);
  expect(await attempt(id)).toBe('done');
  expect(await read()).toMatchObject({ status: 'skipped', attempts: 0, attemptedAt: null });
  await acceptEmail(own);
  await relay.relayAll();
  const [, later] = await deliveriesOf(webhook.id);
  expect(later).toMatchObject({ status: 'skipped', dueAt: null });
  expect(later!.completedAt).not.toBeNull();
  expect(receiver.requests).toEqual([]);
});

test('the job delivers by itself; what fails is tried again in the lane of retries, at its time', async () => {
  changeSettings({ WAKE_AHEAD_SECONDS: 900 });
  const own = await workspace();
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const { id: webhookId } = await makeWebhook(own, receiver.url);
  const workers = await runWorkers(['relay-events', 'deliver-webhook', 'sweep']);
  await runWithRequest({ requestId: 'the-request' }, () => acceptEmail(own));
  await receiver.waitFor(1);
  const [delivery] = await waitFor('the failure is stored', async () => {
    const deliveries = await deliveriesOf(webhookId);
    return deliveries[0]?.attempts === 1 && deliveries;
  });
  expect(delivery).toMatchObject({ requestId: 'the-request' });
  const retry = await waitFor('the retry waits in its lane', () => retryOf(delivery!.id));
  expect(retry.data).toEqual({
    deliveryId: delivery!.id,
    webhookId,
    dueAt: delivery!.dueAt!.getTime(),
    requestId: 'the-request',
  });
  expect(retry.delay).toBeLessThanOrEqual(300_000);
  expect(retry.delay).toBeGreaterThanOrEqual(delivery!.dueAt!.getTime() - now().getTime() - clockToleranceMs);
  await waitFor('nothing of it is left in the lane of first attempts', async () => {
    const counts = await queueOf('deliver-webhook').getJobCounts('active', 'waiting', 'delayed');
    return counts['active'] === 0 && counts['waiting'] === 0 && counts['delayed'] === 0;
  });
  await workers.stop();
});

test('a retry that is far off waits in its row, and is made when its time comes', async () => {
  changeSettings({ WAKE_AHEAD_SECONDS: 60 });
  const own = await workspace();
  const receiver = await startWebhookReceiver({
    respond: (_request, index) => ({ status: index < 2 ? 500 : 200 }),
  });
  const { id: webhookId } = await makeWebhook(own, receiver.url);
  const workers = await runWorkers(['relay-events', 'deliver-webhook', 'sweep']);
  await acceptEmail(own);
  const after = (attempts: number) =>
    waitFor(`attempt ${attempts} is stored`, async () => {
      const [delivery] = await deliveriesOf(webhookId);
      return delivery?.attempts === attempts && delivery;
    });
  const first = await after(1);
  expect(first).toMatchObject({ status: 'pending', parked: true });
  expect(await retryOf(first.id)).toBeUndefined();
  await advanceClock(301_000);
  expect(await after(2)).toMatchObject({ status: 'pending', parked: true });
  await advanceClock(901_000);
  expect(await after(3)).toMatchObject({ status: 'delivered' });
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([first.id]));
  await workers.stop();
});
