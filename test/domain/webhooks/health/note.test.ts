import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { outsideTransaction, query, transaction } from '../../../../shared/db/client.ts';
import * as health from '../../../../shared/domain/webhooks/health/health.ts';
import * as webhooks from '../../../../shared/domain/webhooks/webhooks.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { callerOf } from '../../../support/data/accepted-email.ts';
import { workspace } from '../../../support/data/factory.ts';
import {
  alertAddress,
  changeWebhook,
  later,
  minuteMs,
  settlementsOf,
  systemMailsTo,
  watchedWebhook,
} from '../../../support/data/webhook-health.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { advanceClock, advanceClockTo } from '../../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  changeSettings({ SYSTEM_SENDER: 'Messaging <alerts@platform.example>' });
  own = await workspace();
});

test('the first failure begins an outage, which the next success ends', async () => {
  const webhook = await watchedWebhook(own);
  const first = now();
  await webhook.fails(first);
  expect(await webhook.read()).toMatchObject({ failingSince: first, consecutiveFailures: 1, active: true });
  await webhook.fails(later(first, 1_000));
  await webhook.fails(later(first, 2_000));
  expect(await webhook.read()).toMatchObject({
    failingSince: first,
    lastFailedAt: later(first, 2_000),
    consecutiveFailures: 3,
  });
  await webhook.succeeds(later(first, 3_000));
  expect(await webhook.read()).toMatchObject({
    failingSince: null,
    consecutiveFailures: 0,
    recoveredAt: later(first, 3_000),
  });
});

test('attempts of many webhooks are noted together, each for its own', async () => {
  const watched = await Promise.all(Array.from({ length: 12 }, () => watchedWebhook(own)));
  const time = now();
  await health.note(
    watched.flatMap(({ failure, success }, index) => [
      ...Array.from({ length: index }, (_, turn) => failure(later(time, turn))),
      ...(index % 3 === 0 ? [success(later(time, 100))] : []),
    ]),
  );
  for (const [index, webhook] of watched.entries())
    expect(await webhook.read()).toMatchObject(
      index % 3 === 0
        ? { failingSince: null, consecutiveFailures: 0 }
        : { failingSince: time, consecutiveFailures: index },
    );
});

test('workers that note at once lose no failure and warn once', async () => {
  const address = await alertAddress(own);
  const watched = await Promise.all(
    Array.from({ length: 4 }, () => watchedWebhook(own, { atRiskAlertPercent: 1 })),
  );
  const time = now();
  const before = (await systemMailsTo(address)).length;
  await Promise.all(
    Array.from({ length: 25 }, (_, worker) =>
      // Each worker notes the failures in its own random order.
      health.note(
        watched.toSorted(() => Math.random() - 0.5).map(({ failure }) => failure(later(time, worker))),
      ),
    ),
  );
  for (const { read } of watched)
    expect(await read()).toMatchObject({
      failingSince: time,
      lastFailedAt: later(time, 24),
      consecutiveFailures: 25,
    });
  expect((await systemMailsTo(address)).length - before).toBe(4);
});

test('a success of a healthy webhook waits for nobody who holds its row, and writes nothing', async () => {
  const webhook = await watchedWebhook(own);
  const other = await watchedWebhook(own);
  const unchanged = await webhook.read();
  await transaction(async () => {
    await query('SELECT id FROM webhooks WHERE id = ? FOR UPDATE', [idToBytes(webhook.id)]);
    // A statement that met the lock would wait 5 seconds for it, and fail.
    await outsideTransaction(async () => {
      await webhook.succeeds();
      await other.fails();
    });
  });
  expect(await webhook.read()).toEqual(unchanged);
  expect(await other.read()).toMatchObject({ consecutiveFailures: 1 });
});

test('a failure at or after the end of the window switches off, and one a moment before does not', async () => {
  const address = await alertAddress(own);
  const webhook = await watchedWebhook(own, { autoDisableAfterMinutes: 60 });
  const first = now();
  await webhook.fails(first);
  await webhook.fails(later(first, 60 * minuteMs - 1));
  expect(await webhook.read()).toMatchObject({ active: true, autoDisabled: false, consecutiveFailures: 2 });
  await webhook.fails(later(first, 60 * minuteMs));
  const off = await webhook.read();
  expect(off).toMatchObject({
    active: false,
    autoDisabled: true,
    failingSince: first,
    consecutiveFailures: 3,
  });
  expect(off.disabledAt).not.toBeNull();
  expect(await settlementsOf(webhook.id)).toEqual(['skip']);
  // The warning of the second failure, then the switch-off.
  expect((await systemMailsTo(address)).slice(-2).map(({ subject }) => subject)).toEqual([
    'Webhook to hooks.example.com is failing',
    'Webhook to hooks.example.com has been switched off',
  ]);
});

test('a success never switches off, however late it comes, and ends the outage', async () => {
  const webhook = await watchedWebhook(own, { autoDisableAfterMinutes: 5 });
  const first = now();
  await webhook.fails(first);
  await webhook.succeeds(later(first, 500 * minuteMs));
  expect(await webhook.read()).toMatchObject({ active: true, failingSince: null });
});

test('a success within the same batch as the last failure counts, when it ended later', async () => {
  const webhook = await watchedWebhook(own, { autoDisableAfterMinutes: 5 });
  const first = now();
  await webhook.fails(first);
  await health.note([
    webhook.success(later(first, 6 * minuteMs)),
    webhook.failure(later(first, 5 * minuteMs)),
  ]);
  expect(await webhook.read()).toMatchObject({ active: true, failingSince: null });
});

test('attempts that end after the switch-off change nothing of what its customer sees', async () => {
  const webhook = await watchedWebhook(own, { autoDisableAfterMinutes: 5 });
  const first = now();
  await webhook.fails(first);
  await webhook.fails(later(first, 5 * minuteMs));
  const off = await webhook.read();
  await webhook.fails(later(first, 6 * minuteMs));
  await webhook.succeeds(later(first, 7 * minuteMs));
  expect(await webhook.read()).toEqual(off);
});

test('a webhook that its customer has paused is neither warned of nor switched off', async () => {
  const paused = await workspace();
  const address = await alertAddress(paused);
  const webhook = await watchedWebhook(paused, { autoDisableAfterMinutes: 5 });
  const first = now();
  await webhook.fails(first);
  await changeWebhook(webhook.id, { active: 0 });
  await webhook.fails(later(first, 60 * minuteMs));
  await advanceClockTo(later(first, 61 * minuteMs));
  await health.watch();
  expect(await webhook.read()).toMatchObject({ autoDisabled: false, warnedAt: null, consecutiveFailures: 2 });
  expect(await systemMailsTo(address)).toEqual([]);
});

test('a late failure begins no outage when a delivery was accepted after it', async () => {
  const webhook = await watchedWebhook(own);
  const time = now();
  await webhook.addDelivery({ status: 'delivered', completed_at: time });
  await webhook.fails(later(time, -10));
  expect(await webhook.read()).toMatchObject({ failingSince: null, consecutiveFailures: 0 });
  await webhook.fails(later(time, 10));
  expect(await webhook.read()).toMatchObject({ failingSince: later(time, 10), consecutiveFailures: 1 });
});

test('a test that was accepted is no proof of health', async () => {
  const webhook = await watchedWebhook(own);
  const time = now();
  await webhook.addDelivery({ status: 'delivered', completed_at: time, event_type: 'webhook.test' });
  await webhook.fails(later(time, -10));
  expect(await webhook.read()).toMatchObject({ failingSince: later(time, -10) });
});

test('a success whose note was lost with its worker saves the webhook all the same', async () => {
  const webhook = await watchedWebhook(own, { autoDisableAfterMinutes: 5 });
  const other = await watchedWebhook(own, { autoDisableAfterMinutes: 5 });
  const first = now();
  for (const { fails, addDelivery } of [webhook, other]) {
    await fails(first);
    await addDelivery({ status: 'delivered', completed_at: later(first, 2 * minuteMs) });
  }
  await webhook.fails(later(first, 5 * minuteMs));
  expect(await webhook.read()).toMatchObject({
    active: true,
    failingSince: later(first, 5 * minuteMs),
    consecutiveFailures: 1,
  });
  // The check by the clock does not switch off a recovered webhook either.
  await advanceClockTo(later(first, 6 * minuteMs));
  await health.watch();
  expect(await other.read()).toMatchObject({
    active: true,
    failingSince: null,
    recoveredAt: later(first, 2 * minuteMs),
  });
});

test('an attempt of a webhook that was deleted meanwhile is passed over', async () => {
  const webhook = await watchedWebhook(own);
  const other = await watchedWebhook(own);
  await query('DELETE FROM webhooks WHERE id = ?', [idToBytes(webhook.id)]);
  await health.note([webhook.failure(now()), other.failure(now())]);
  expect(await other.read()).toMatchObject({ consecutiveFailures: 1 });
});

test('what is switched on again starts anew', async () => {
  const webhook = await watchedWebhook(own, { autoDisableAfterMinutes: 5, atRiskAlertPercent: 1 });
  await webhook.fails();
  await webhook.fails(later(now(), 5 * minuteMs));
  expect(await webhook.read()).toMatchObject({ autoDisabled: true });
  await advanceClock(60 * minuteMs);
  await transaction(() => webhooks.change(callerOf(own), webhook.id, { active: true }));
  await health.watch();
  expect(await webhook.read()).toMatchObject({ active: true, autoDisabled: false, failingSince: null });
  const again = now();
  await webhook.fails(again);
  expect(await webhook.read()).toMatchObject({ failingSince: again, consecutiveFailures: 1 });
  expect((await webhook.read()).warnedAt).not.toBeNull();
});

test('a webhook whose host is longer than any may be now is warned of and switched off like any other', async () => {
  const address = await alertAddress(own);
  const url = `https://${'a.'.repeat(900)}example/hook`;
  const webhook = await watchedWebhook(own, { autoDisableAfterMinutes: 60, atRiskAlertPercent: 1 });
  // Such a URL may have been stored before such hosts were refused.
  await changeWebhook(webhook.id, { url });
  const { host } = new URL(url);
  const [beside, mails] = [await watchedWebhook(own), (await systemMailsTo(address)).length];
  const failedAt = now();
  const note = (endedAt: Date) =>
    health.note([{ ...webhook.failure(endedAt), host }, beside.failure(endedAt)]);
  await note(failedAt);
  expect(await webhook.read()).toMatchObject({ failingSince: failedAt, active: true });
  expect((await beside.read()).failingSince).toEqual(failedAt);
  await note(later(failedAt, 61 * minuteMs));
  expect(await webhook.read()).toMatchObject({ active: false, autoDisabled: true });
  const told = (await systemMailsTo(address)).slice(mails);
  expect(told.some(({ text }) => text!.includes(`https://${host}/hook`))).toBe(true);
});
