import { beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as retention from '../../../shared/domain/operations/retention.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { change, remove, rotateSecret, sendTest } from '../../../shared/domain/webhooks/webhooks.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import {
  alterWebhook,
  countsOf,
  deliveriesOf,
  dueDelivery,
  makeWebhook,
  storeEvents,
} from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { type Answer, answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock, clockToleranceMs } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  own = await workspace();
});

const dayMs = 86_400_000;
const webhookRow = async (id: string) =>
  (
    await query<(Record<string, unknown> & { paused_until: Date })[]>('SELECT * FROM webhooks WHERE id = ?', [
      idToBytes(id),
    ])
  )[0]!;

test('a 429 pauses all deliveries of the webhook, and of no other', async () => {
  const busy = await startWebhookReceiver({ respond: answers.tooManyRequests('120') });
  const free = await startWebhookReceiver();
  const [paused, other] = [await makeWebhook(own, busy.url), await makeWebhook(own, free.url)];
  await storeEvents(own, 10);
  await relay.relayAll();
  const [first, ...rest] = await deliveriesOf(paused.id);
  await attempt(first!.id);
  const until = (await deliveriesOf(paused.id))[0]!.dueAt!;
  for (const { id } of rest) expect(await attempt(id)).toBe('done');
  for (const { id } of await deliveriesOf(other.id)) await attempt(id);

  expect(busy.requests).toHaveLength(1);
  expect(free.requests).toHaveLength(10);
  for (const [index, delivery] of (await deliveriesOf(paused.id)).entries())
    expect(delivery).toMatchObject({
      status: 'pending',
      parked: true,
      attempts: index === 0 ? 1 : 0,
      dueAt: until,
    });
  expect((await countsOf(other.id)).delivered).toBe(10);
  // A delivery that comes later waits too.
  await storeEvents(own, 5);
  await relay.relayAll();
  await recovery.sweep();
  expect(await countsOf(paused.id)).toMatchObject({ inRedis: 0, parked: 15 });

  busy.respondWith({ status: 200 });
  await advanceClock(121_000);
  const workers = await runWorkers(['deliver-webhook', 'sweep']);
  await waitFor('all are delivered', async () => (await countsOf(paused.id)).delivered === 15);
  await workers.stop();
});

/** Starts deliveries at an endpoint that answers when told to; others wait for their slots when this resolves. */
async function withDeliveriesWaiting() {
  const waiting: ((answer: Answer) => void)[] = [];
  const receiver = await startWebhookReceiver({
    respond: () => new Promise((resolve) => waiting.push(resolve)),
  });
  const { id } = await makeWebhook(own, receiver.url);
  await storeEvents(own, 60);
  await relay.relayAll();
  const workers = await runWorkers(['deliver-webhook']);
  await waitFor('more are claimed than are out', async () => {
    const held = (await deliveriesOf(id)).filter(({ isHeld }) => isHeld);
    // After 1.5 seconds without an answer nobody waits any more; a machine that stands still sees only that.
    return waiting.length === 20 && (held.length > 20 || (await countsOf(id)).parked > 0);
  });
  return {
    id,
    receiver,
    /** Answers one request, and later the others too. */
    answer: (answer: Answer) => waiting.shift()!(answer),
    answerAll: () => {
      receiver.respondWith({});
      for (const resolve of waiting.splice(0)) resolve({});
    },
    notHeld: async () => (await deliveriesOf(id)).filter(({ isHeld }) => !isHeld),
    workers,
  };
}

test('a 429 stops at once what waits behind it for a slot: only requests that were out already come', async () => {
  const { id, receiver, answer, answerAll, notHeld, workers } = await withDeliveriesWaiting();
  answer(answers.tooManyRequests('3600'));
  // A delivery that still has its job is claimed once more.
  await waitFor('all others wait in their rows', async () => {
    const rows = await notHeld();
    return rows.length === 41 && rows.every(({ parked }) => parked);
  });
  expect(receiver.requests).toHaveLength(20);
  const until = (await webhookRow(id)).paused_until;
  expect((await notHeld()).filter(({ attempts }) => attempts === 0)).toHaveLength(40);
  expect((await notHeld()).every(({ parked, dueAt }) => parked && dueAt! <= until)).toBe(true);
  answerAll();
  await waitFor('those that were out are delivered', async () => (await countsOf(id)).delivered === 19);
  expect(receiver.requests).toHaveLength(20);
  await workers.stop();
});

test.each([
  ['deleted', { skipped: true }, (id: string) => remove(callerOf(own), id)],
  ['switched off', { skipped: false }, (id: string) => change(callerOf(own), id, { active: false })],
])(
  'no attempt is begun once the webhook is %s, not even of what waits for its slot',
  async (_state, { skipped }, stop) => {
    const { id, receiver, answerAll, notHeld, workers } = await withDeliveriesWaiting();
    await transaction(async () => void (await stop(id)));
    answerAll();
    // A delivery that still has its job is claimed once more.
    const areAllPutAside = async () => (await notHeld()).length === 60 && (await countsOf(id)).inRedis === 0;
    await waitFor('all others are put aside', areAllPutAside);
    expect(receiver.requests).toHaveLength(20);
    const counts = await countsOf(id);
    expect(counts.delivered).toBe(20);
    if (!skipped) expect(counts.parked).toBe(40);
    else expect(counts.skipped + counts.parked).toBe(40);
    await workers.stop();
  },
);

test.each<[string, (id: string, url: string) => Promise<unknown>, number]>([
  ['the url is changed', (id, url) => change(callerOf(own), id, { url }), 1],
  ['the secret is rotated', (id) => rotateSecret(callerOf(own), id), 0],
])('once %s, what waits for its slot is claimed anew', async (_what, alter, place) => {
  const second = await startWebhookReceiver();
  const { id, receiver, answerAll, workers } = await withDeliveriesWaiting();
  await transaction(async () => void (await alter(id, second.url)));
  answerAll();
  const sweeping = await runWorkers(['sweep']);
  await waitFor('all are delivered', async () => (await countsOf(id)).delivered === 60);
  await Promise.all([workers.stop(), sweeping.stop()]);
  const later = [receiver.requests.slice(20), second.requests];
  expect(later.map(({ length }) => length)).toEqual(place === 0 ? [40, 0] : [0, 40]);
  const labels = place === 0 ? /sig=.*sig-prev=/ : /sig=/;
  for (const { headers } of later[place]!) expect(headers['signature']).toMatch(labels);
});

test('a 429 is noted neither as a failure nor as a success', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const { id, webhook } = await dueDelivery(own, receiver.url);
  await attempt(id);
  const failing = await webhookRow(webhook.id);
  expect(failing['consecutive_failures']).toBe(1);
  receiver.respondWith(answers.tooManyRequests('1'));
  await advanceClock(301_000);
  await attempt(id);
  expect(receiver.requests).toHaveLength(2);
  expect(await webhookRow(webhook.id)).toMatchObject({
    consecutive_failures: 1,
    failing_since: failing['failing_since'],
  });
});

test('of two answers that ask to wait, the longer one counts', async () => {
  let asked = ['300', '2'];
  const receiver = await startWebhookReceiver({
    respond: () => {
      const [next, ...rest] = asked;
      asked = rest;
      return { ...answers.tooManyRequests(next), delayMs: asked.length === 0 ? 300 : 0 };
    },
  });
  const { id: webhookId } = await makeWebhook(own, receiver.url);
  await storeEvents(own, 2);
  await relay.relayAll();
  const before = now().getTime();
  await Promise.all((await deliveriesOf(webhookId)).map(({ id }) => attempt(id)));
  const row = await webhookRow(webhookId);
  expect(row.paused_until.getTime()).toBeGreaterThanOrEqual(before + 300_000 - clockToleranceMs);
});

test('a delivery that waits through a pause has failed 7 days after its event', async () => {
  const receiver = await startWebhookReceiver();
  const { id: webhookId } = await makeWebhook(own, receiver.url);
  await alterWebhook(webhookId, { active: 0 });
  await storeEvents(own, 3);
  await relay.relayAll();
  await advanceClock(7 * dayMs - 60_000);
  await retention.purge();
  expect(await countsOf(webhookId)).toMatchObject({ parked: 3 });
  await advanceClock(120_000);
  await retention.purge();
  expect(await countsOf(webhookId)).toMatchObject({ parked: 0, failed: 3 });
  for (const delivery of await deliveriesOf(webhookId)) {
    expect(delivery).toMatchObject({ dueAt: null, attempts: 0 });
    expect(delivery.completedAt).not.toBeNull();
  }
});

test('a test goes out whatever the state of its webhook, to it alone, once, and tells nothing of its health', async () => {
  const [receiver, other] = [
    await startWebhookReceiver({ respond: { status: 500 } }),
    await startWebhookReceiver(),
  ];
  const webhook = await makeWebhook(own, receiver.url, ['email.sent']);
  const second = await makeWebhook(own, other.url, ['email.queued', 'email.sent']);
  for (const state of [
    { active: 1 },
    { active: 0 },
    { active: 0, auto_disabled: 1 },
    { active: 1, auto_disabled: 0, paused_until: new Date(now().getTime() + 3_600_000) },
    { failing_since: new Date(now().getTime() - 60_000), consecutive_failures: 99, paused_until: null },
  ]) {
    await alterWebhook(webhook.id, state);
    const before = receiver.requests.length;
    const event = await transaction(() => sendTest(callerOf(own), webhook.id, '2026-11-01'));
    await relay.relayAll();
    const delivery = (await deliveriesOf(webhook.id)).at(-1)!;
    expect(delivery).toMatchObject({ status: 'pending', eventType: 'webhook.test', parked: false });
    await attempt(delivery.id);
    expect(receiver.requests).toHaveLength(before + 1);
    expect(JSON.parse(receiver.requests.at(-1)!.body.toString())).toMatchObject({
      id: event.id,
      type: 'webhook.test',
    });
    expect((await deliveriesOf(webhook.id)).at(-1)).toMatchObject({
      status: 'failed',
      attempts: 1,
      dueAt: null,
    });
  }
  expect(await deliveriesOf(second.id)).toEqual([]);
  expect(other.requests).toEqual([]);
  expect(await webhookRow(webhook.id)).toMatchObject({ consecutive_failures: 99 });
});
