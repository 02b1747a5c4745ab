import { beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as retention from '../../../shared/domain/operations/retention.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { alterWebhook, dueDelivery } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { withoutWaiting } from '../../support/database/lock-wait.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock, advanceClockTo } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  own = await workspace();
});

const historyOf = async (id: string) =>
  query('SELECT * FROM webhook_attempts WHERE delivery_id = ? ORDER BY number', [idToBytes(id)]);
const dueNow = (id: string) =>
  query('UPDATE webhook_deliveries SET due_at = created_at WHERE id = ?', [idToBytes(id)]);

test('every attempt is kept with its own outcome, in order: the latest with the delivery, the others beside it', async () => {
  const statuses = [500, 404, 503, 200];
  const receiver = await startWebhookReceiver({
    respond: (_request, index) => ({ status: statuses[index]!, body: `answer ${index} \\ " 🙂` }),
  });
  const { id, read } = await dueDelivery(own, receiver.url);
  const times: Date[] = [];
  for (const [index] of statuses.entries()) {
    await dueNow(id);
    await attempt(id);
    const stored = await read();
    expect(stored).toMatchObject({ attempts: index + 1, responseStatus: statuses[index] });
    times.push(stored.attemptedAt!);
    const earlier = await historyOf(id);
    expect(earlier.map((row) => row['number'])).toEqual(
      statuses.slice(0, index).map((_, place) => place + 1),
    );
    for (const [place, row] of earlier.entries())
      expect(row).toMatchObject({
        response_status: statuses[place],
        response_body: `answer ${place} \\ " 🙂`,
        attempted_at: times[place],
        error: 'http_status',
      });
  }
});

test('a worker that comes late with its outcome adds no attempt', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const receiver = await startWebhookReceiver({
    respond: async (_request, index) => {
      if (index === 1) await released;
      return { status: 500 };
    },
  });
  const { id, read } = await dueDelivery(own, receiver.url);
  await attempt(id);
  await dueNow(id);
  const late = attempt(id);
  await receiver.waitFor(2);
  await advanceClock(151_000);
  await attempt(id);
  expect(await historyOf(id)).toHaveLength(1);
  const stored = await read();
  release();
  await late;
  expect(await read()).toEqual(stored);
  expect(await historyOf(id)).toHaveLength(1);
});

test('attempts go with their delivery', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const { id } = await dueDelivery(own, receiver.url);
  await attempt(id);
  await dueNow(id);
  await attempt(id);
  expect(await historyOf(id)).toHaveLength(1);
  await advanceClock(8 * 86_400_000);
  await retention.purge();
  expect(await historyOf(id)).toEqual([]);
});

test('the body stays as it was at the first attempt, whatever version the webhook asks for later', async () => {
  const receiver = await startWebhookReceiver({
    respond: (_request, index) => ({ status: index < 2 ? 500 : 200 }),
  });
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  await attempt(id);
  expect((await read()).bodyVersion).toBe('2026-11-01');
  for (const api_version of ['2027-06-01', '2027-07-01']) {
    await alterWebhook(webhook.id, { api_version });
    await advanceClockTo((await read()).dueAt!);
    await attempt(id);
  }
  expect(await read()).toMatchObject({ status: 'delivered', bodyVersion: '2026-11-01' });
  const [first, ...later] = receiver.requests;
  expect(later).toHaveLength(2);
  for (const { body } of later) expect(body.equals(first!.body)).toBe(true);
});

test('what has only waited follows the version that the webhook has when it is sent', async () => {
  const receiver = await startWebhookReceiver();
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  await alterWebhook(webhook.id, { active: 0 });
  await attempt(id);
  expect(await read()).toMatchObject({ status: 'pending', attempts: 0, bodyVersion: null });
  await alterWebhook(webhook.id, { active: 1, api_version: '2027-06-01' });
  await attempt(id);
  expect(JSON.parse(receiver.requests[0]!.body.toString()).apiVersion).toBe('2027-06-01');
});

test('a delivery that cannot be signed is our fault: it waits, and is no failure of the webhook', async () => {
  const receiver = await startWebhookReceiver();
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  const [row] = await query('SELECT secret FROM webhooks WHERE id = ?', [idToBytes(webhook.id)]);
  await alterWebhook(webhook.id, { secret: Buffer.from('gone:nothing') });
  expect(await attempt(id)).toBe('done');
  const waiting = await read();
  expect(waiting).toMatchObject({ status: 'pending', attempts: 0, attemptedAt: null, parked: true });
  expect(Math.round((waiting.dueAt!.getTime() - now().getTime()) / 10_000)).toBe(30);
  expect(await attempt(id)).toBe('dropped');
  const [health] = await query('SELECT failing_since, consecutive_failures FROM webhooks WHERE id = ?', [
    idToBytes(webhook.id),
  ]);
  expect(health).toEqual({ failing_since: null, consecutive_failures: 0 });
  await alterWebhook(webhook.id, { secret: row!['secret'] });
  await advanceClockTo(waiting.dueAt!);
  await attempt(id);
  expect(await read()).toMatchObject({ status: 'delivered', attempts: 1 });
  expect(receiver.requests).toHaveLength(1);
});

test('a claim does not wait for whoever has the webhook locked', async () => {
  const receiver = await startWebhookReceiver();
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const change = transaction(async () => {
    await query('SELECT 1 FROM webhooks WHERE id = ? FOR UPDATE', [idToBytes(webhook.id)]);
    lock();
    await over;
  });
  await locked;
  await withoutWaiting(() => attempt(id));
  end();
  await change;
  expect(await read()).toMatchObject({ status: 'delivered' });
});
