import mysql from 'mysql2/promise';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { now, nowForAll } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { listStates } from '../../../shared/db/webhooks/deliveries/deliveries.system.ts';
import { updateWebhookPaused } from '../../../shared/db/webhooks/webhooks.system.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { notePause, stateNow } from '../../../shared/domain/webhooks/deliveries/state-now.ts';
import { change, redeliver, rotateSecret, sendTest } from '../../../shared/domain/webhooks/webhooks.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import type { Webhook, WebhookChanges } from '../../../shared/schemas/webhooks/webhooks.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { deliveriesOf, dueDelivery, makeWebhook, storeEvents } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { newUrl } from '../../support/servers/webhook-url.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor, waitUnlessAnswered } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  own = await workspace();
});

const webhookRow = async (id: string) =>
  (
    await query<(Record<string, unknown> & { paused_until: Date })[]>('SELECT * FROM webhooks WHERE id = ?', [
      idToBytes(id),
    ])
  )[0]!;

test('the pause after a 429 is on disk before the attempt is written down', async () => {
  const busy = await startWebhookReceiver();
  const { id } = await makeWebhook(own, busy.url);
  await storeEvents(own, 1);
  await relay.relayAll();
  const [delivery] = await deliveriesOf(id);
  const locker = await mysql.createConnection(config.MYSQL_URL);
  onTestFinished(() => locker.destroy());
  busy.respondWith(async () => {
    await locker.query('START TRANSACTION');
    await locker.query('SELECT * FROM webhook_deliveries WHERE id = ? FOR UPDATE', [idToBytes(delivery!.id)]);
    return answers.tooManyRequests('120');
  });
  const attempted = attempt(delivery!.id);
  const isPaused = async () => (await webhookRow(id)).paused_until !== null;
  await waitUnlessAnswered([attempted], waitFor('the pause', isPaused, { timeoutMs: 30_000 }));
  expect(await deliveriesOf(id)).toMatchObject([{ attempts: 0 }]);
  await locker.query('ROLLBACK');
  await attempted;
  // Workers of other tests may send it again.
  busy.respondWith({ status: 200 });
  expect(await deliveriesOf(id)).toMatchObject([{ attempts: 1 }]);
});

/** Refuses to write the pause of the webhook where the condition holds. */
async function refusePause(webhookId: string, condition: string) {
  await query(`CREATE TRIGGER refuse_pause BEFORE UPDATE ON webhooks FOR EACH ROW
    IF NEW.id = X'${idToBytes(webhookId).toString('hex')}' AND ${condition} THEN SIGNAL SQLSTATE '45000'; END IF`);
  onTestFinished(() => query('DROP TRIGGER IF EXISTS refuse_pause').then(() => undefined));
}

test('the pause after a 429 is written again where the database refused it, and the attempt is kept', async () => {
  const busy = await startWebhookReceiver({ respond: answers.tooManyRequests('120') });
  const { id, webhook } = await dueDelivery(own, busy.url);
  // The first connection that comes takes the lock for good, so only its statement is refused.
  await refusePause(webhook.id, `IS_FREE_LOCK('${webhook.id}') AND GET_LOCK('${webhook.id}', 0)`);
  await attempt(id);
  expect(await deliveriesOf(webhook.id)).toMatchObject([{ attempts: 1, status: 'pending' }]);
  expect((await webhookRow(webhook.id)).paused_until).not.toBeNull();
});

test('where the pause after a 429 cannot be written, the attempt is kept, and this process holds the pause', async () => {
  const { LEASE_SECONDS } = config;
  changeSettings({ LEASE_SECONDS: 2 });
  onTestFinished(() => changeSettings({ LEASE_SECONDS }));
  const busy = await startWebhookReceiver({ respond: answers.tooManyRequests('120') });
  const webhook = await makeWebhook(own, busy.url);
  await storeEvents(own, 2);
  await relay.relayAll();
  await refusePause(webhook.id, 'TRUE');
  for (const { id } of await deliveriesOf(webhook.id)) await attempt(id);
  expect((await webhookRow(webhook.id)).paused_until).toBeNull();
  expect(busy.requests).toHaveLength(1);
  const [first, second] = await deliveriesOf(webhook.id);
  expect(first).toMatchObject({ attempts: 1, status: 'pending' });
  expect(second).toMatchObject({ attempts: 0, status: 'pending' });
  // It waits for a moment at a time, because a customer who ends the pause finds it only by a pause that is on disk.
  expect(second!.dueAt!.getTime()).toBeLessThanOrEqual(nowForAll().getTime() + 5_000);
  // A later pause, by another process, is not hidden by what this one holds.
  await query('DROP TRIGGER refuse_pause');
  const later = new Date(first!.dueAt!.getTime() + 600_000);
  await query('UPDATE webhooks SET paused_until = ? WHERE id = ?', [later, idToBytes(webhook.id)]);
  await advanceClock(130_000);
  await attempt(second!.id);
  expect(busy.requests).toHaveLength(1);
  expect((await deliveriesOf(webhook.id))[1]!.dueAt).toEqual(later);
});

const changeTo = (id: string, changes: WebhookChanges) =>
  transaction(() => change(callerOf(own), id, changes));
const switchOn = (id: string) => changeTo(id, { active: true });
const setDescription = (id: string) => changeTo(id, { description: 'Orders' });

test('a customer who switches the webhook on ends a pause that could not be written', async () => {
  const { LEASE_SECONDS } = config;
  changeSettings({ LEASE_SECONDS: 2 });
  onTestFinished(() => changeSettings({ LEASE_SECONDS }));
  const busy = await startWebhookReceiver({ respond: answers.tooManyRequests('120') });
  const webhook = await makeWebhook(own, busy.url);
  await storeEvents(own, 2);
  await relay.relayAll();
  const [first, second] = await deliveriesOf(webhook.id);
  await refusePause(webhook.id, 'TRUE');
  await attempt(first!.id);
  await query('DROP TRIGGER refuse_pause');
  await advanceClock(1_000);
  await switchOn(webhook.id);
  busy.respondWith({ status: 200 });
  await attempt(second!.id);
  expect((await deliveriesOf(webhook.id))[1]).toMatchObject({ status: 'delivered' });
});

type Act = (webhook: Webhook, deliveryId: string) => Promise<unknown>;
const lifts: [string, Act][] = [
  ['switched the webhook on', ({ id }) => switchOn(id)],
  ['asked for a test', ({ id }) => transaction(() => sendTest(callerOf(own), id, '2026-11-01'))],
  ['sent a delivery again', ({ id }, deliveryId) => redeliver(callerOf(own), id, deliveryId)],
  // The pause is of the server at the old URL.
  ['given the webhook another URL', ({ id }) => changeTo(id, { url: newUrl('http://127.0.0.1:1') })],
];
const changes: [string, Act][] = [
  ['described the webhook', ({ id }) => setDescription(id)],
  ['rotated its secret', ({ id }) => transaction(() => rotateSecret(callerOf(own), id))],
  ['given it the URL that it has', ({ id, url }) => changeTo(id, { url })],
  ['switched it off', ({ id }) => changeTo(id, { active: false })],
];

async function expectNoPause(webhookId: string): Promise<void> {
  const [attempted] = await deliveriesOf(webhookId);
  expect(attempted).toMatchObject({ attempts: 1 });
  expect(attempted!.dueAt!.getTime()).toBeLessThan(now().getTime() + 60_000);
  const row = await webhookRow(webhookId);
  expect(row.paused_until).toBeNull();
  // Workers of the version before know the end of a pause by this.
  expect(row['updated_at']).toEqual(row['pause_ended_at']);
}

async function expectPause(webhookId: string): Promise<void> {
  const { paused_until } = await webhookRow(webhookId);
  expect(paused_until.getTime()).toBeGreaterThan(now().getTime() + 60_000);
  expect(await deliveriesOf(webhookId)).toMatchObject([{ attempts: 1, dueAt: paused_until }]);
}

/** A webhook as a claim has read it, and the pause that an answer to this process asks for. */
async function pausing() {
  const { webhook } = await dueDelivery(own, 'http://127.0.0.1:9/');
  const [claimed] = await listStates([webhook.id]);
  const until = new Date(now().getTime() + 3_600_000);
  const pause = { until, busyCount: 1, begunAt: nowForAll(), url: claimed!.url };
  return { webhook, claimed, pause };
}

test('a pause that the server at the old URL asks for holds nothing up at the new one, in the same moment', async () => {
  const { webhook, claimed, pause } = await pausing();
  await changeTo(webhook.id, { url: newUrl('http://127.0.0.1:1') });
  expect(await updateWebhookPaused(webhook.id, pause)).toBe(false);
  notePause(webhook.id, pause);
  expect(await stateNow(claimed!, performance.now())).toMatchObject({ pausedUntil: null });
});

test('a delivery that waits for its slot goes out where the customer has ended a pause that is not written', async () => {
  const { webhook, claimed, pause } = await pausing();
  notePause(webhook.id, pause);
  expect(await stateNow(claimed!, performance.now())).toMatchObject({ pausedUntil: expect.any(Date) });
  await advanceClock(1_000);
  await switchOn(webhook.id);
  notePause(webhook.id, pause);
  expect(await stateNow(claimed!, performance.now())).toMatchObject({ pausedUntil: null });
});

test('a delivery that waits for its slot goes on waiting where a change of the webhook ends no pause', async () => {
  const { webhook, claimed, pause } = await pausing();
  await advanceClock(1_000);
  await setDescription(webhook.id);
  notePause(webhook.id, pause);
  expect(await stateNow(claimed!, performance.now())).toMatchObject({ pausedUntil: expect.any(Date) });
});

/** The database refuses the pause until the customer has acted. Returns the id of the webhook. */
async function pauseRefusedUntil(act: Act): Promise<string> {
  const busy = await startWebhookReceiver({ respond: answers.tooManyRequests('120') });
  const { id, webhook } = await dueDelivery(own, busy.url);
  const refused = `refused ${webhook.id}`;
  // The connection whose statement is refused takes a lock for good, which tells the test.
  await refusePause(
    webhook.id,
    `NEW.paused_until IS NOT NULL AND (IS_USED_LOCK('${refused}') IS NOT NULL OR GET_LOCK('${refused}', 0))`,
  );
  const attempted = attempt(id);
  const isRefused = async () =>
    (await query<{ used: number | null }[]>('SELECT IS_USED_LOCK(?) AS used', [refused]))[0]!.used !== null;
  await waitUnlessAnswered([attempted], waitFor('the pause is refused', isRefused, { timeoutMs: 30_000 }));
  await advanceClock(1_000);
  await act(webhook, id);
  await query('DROP TRIGGER refuse_pause');
  await attempted;
  return webhook.id;
}

test.each(lifts)('a pause that is written only after the customer has %s is not kept', async (_what, lift) =>
  expectNoPause(await pauseRefusedUntil(lift)),
);

test.each(changes)('a pause that is written only after the customer has %s is kept', async (_what, act) =>
  expectPause(await pauseRefusedUntil(act)),
);

/** The customer acts while an attempt is under way, which is then answered 429. Returns the id of the webhook. */
async function pausedAfter(act: Act): Promise<string> {
  const busy = await startWebhookReceiver();
  const { id, webhook } = await dueDelivery(own, busy.url);
  busy.respondWith(async () => {
    await advanceClock(1_000);
    await act(webhook, id);
    return answers.tooManyRequests('7200');
  });
  await attempt(id);
  return webhook.id;
}

test.each(lifts)('a 429 to an attempt from before the customer has %s pauses nothing', async (_what, lift) =>
  expectNoPause(await pausedAfter(lift)),
);

test.each(changes)(
  'a 429 to an attempt from before the customer has %s pauses the webhook',
  async (_what, act) => expectPause(await pausedAfter(act)),
);
