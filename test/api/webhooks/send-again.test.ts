import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { deliveriesOf, makeWebhook } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

/** Makes a webhook with `count` deliveries, none of them attempted yet. */
async function start(count: number) {
  const own = await workspace();
  const receiver = await startWebhookReceiver();
  const { id } = await makeWebhook(own, receiver.url);
  for (let made = 0; made < count; made += 1) await acceptEmail(own);
  await relay.relayAll();
  const path = `/v2/webhooks/${id}`;
  const post = (rest: string, body?: object, key = own.key) =>
    api.request('POST', `${path}/${rest}`, { key, ...(body && { body }) });
  const read = async (rest: string) => (await api.request('GET', `${path}/${rest}`, { key: own.key })).body;
  return { own, receiver, id, path, post, read, deliveries: await deliveriesOf(id) };
}

test('a delivery is sent again under the same Webhook-Id with the same bytes, and the answer is its record', async () => {
  const { receiver, post, read, deliveries } = await start(1);
  const { id } = deliveries[0]!;
  await attempt(id);
  expect(await read(`deliveries/${id}`)).toMatchObject({ status: 'delivered', attempts: 1 });
  const { status, body } = await post(`deliveries/${id}/redeliver`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ id, status: 'pending', attempts: 1, completedAt: null });
  expect(Date.parse(body.nextAttemptAt)).toBeLessThanOrEqual(now().getTime() + 250);
  // A delivery that is due may come at any moment, so nextAttemptAt is the current time in each answer.
  body.nextAttemptAt = expect.any(String);
  expect(await read('deliveries')).toStrictEqual({ data: [body], nextCursor: null });
  await attempt(id);
  const [first, second] = receiver.requests;
  expect(second!.headers['webhook-id']).toBe(id);
  expect(second!.body.equals(first!.body)).toBe(true);
  const log = await read(`deliveries/${id}`);
  expect(log).toMatchObject({ status: 'delivered', attempts: 2 });
  expect(log.attemptLog.map(({ number }: { number: number }) => number)).toEqual([2, 1]);
});

test('what failed or was skipped since a time is sent again, and the answer says how much that is', async () => {
  const { receiver, id, post, deliveries } = await start(6);
  const ended = (deliveryId: string, status: string) =>
    query('UPDATE webhook_deliveries SET status = ?, due_at = NULL, completed_at = ? WHERE id = ?', [
      status,
      now(),
      idToBytes(deliveryId),
    ]);
  for (const [index, status] of ['failed', 'failed', 'skipped', 'skipped', 'delivered'].entries())
    await ended(deliveries[index]!.id, status);
  const since = new Date(now().getTime() - 3_600_000).toISOString();
  const { status, body } = await post('recover', { since });
  expect(status).toBe(200);
  expect(body).toStrictEqual({ since, deliveries: 4 });
  const workers = await runWorkers();
  await waitFor('all to be delivered', async () =>
    (await deliveriesOf(id)).every((delivery) => delivery.status === 'delivered'),
  );
  // Workers that kept running would take the deliveries that the other tests make.
  await workers.stop();
  const sent = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
  expect(sent).toEqual(new Set([0, 1, 2, 3, 5].map((index) => deliveries[index]!.id)));
});

test('nothing is sent again that was made and ended before the time', async () => {
  const { post, deliveries } = await start(1);
  await query("UPDATE webhook_deliveries SET status = 'failed', completed_at = created_at WHERE id = ?", [
    idToBytes(deliveries[0]!.id),
  ]);
  // The time comes from the id: a new sample of MySQL's time may have put the clock of this process back a little.
  const madeAt = idToBytes(deliveries[0]!.id).readUIntBE(0, 6);
  const since = new Date(madeAt + 1).toISOString();
  await waitFor('the time to be past', () => now().toISOString() > since);
  expect((await post('recover', { since })).body).toStrictEqual({ since, deliveries: 0 });
});

test.each([
  ['a time to come', () => ({ since: new Date(now().getTime() + 60_000).toISOString() })],
  ['no time', () => ({})],
  ['null', () => ({ since: null })],
  ['a date without a time', () => ({ since: '2026-11-20' })],
])('recover is refused with %s', async (_what, bodyOf) => {
  const { post } = await start(0);
  const { status, body } = await post('recover', bodyOf());
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual(['since']);
});

test.each([
  ['the service switched off', 1],
  ['the customer paused', 0],
])('a webhook that %s has to be active first', async (_name, autoDisabled) => {
  const { id, post, deliveries } = await start(1);
  await query('UPDATE webhooks SET active = 0, auto_disabled = ? WHERE id = ?', [
    autoDisabled,
    idToBytes(id),
  ]);
  const since = '2026-11-01T00:00:00Z';
  for (const answer of [
    await post(`deliveries/${deliveries[0]!.id}/redeliver`),
    await post('recover', { since }),
  ])
    expect(answer).toMatchObject({ status: 409, body: { type: `${api.url}/problems/webhook_disabled` } });
});

test('neither reaches another workspace, nor the delivery of another webhook', async () => {
  const mine = await start(1);
  const other = await start(1);
  const foreign = mine.deliveries[0]!.id;
  const since = '2026-11-01T00:00:00Z';
  for (const answer of [
    await mine.post(`deliveries/${foreign}/redeliver`, undefined, other.own.key),
    await other.post(`deliveries/${foreign}/redeliver`),
    await other.post(`deliveries/${newId('delivery', now())}/redeliver`),
    await mine.post('recover', { since }, other.own.key),
  ])
    expect(answer.status).toBe(404);
});
