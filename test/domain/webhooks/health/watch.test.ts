import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { query } from '../../../../shared/db/client.ts';
import * as health from '../../../../shared/domain/webhooks/health/health.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { workspace } from '../../../support/data/factory.ts';
import {
  alertAddress,
  changeWebhook,
  later,
  minuteMs,
  settlementsOf,
  systemMailsTo,
  type Watched,
  watchedWebhook,
} from '../../../support/data/webhook-health.ts';
import { copyRow } from '../../../support/database/copied-rows.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { advanceClockTo } from '../../../support/time/advance-clock.ts';

useDatabase();

beforeAll(() => changeSettings({ SYSTEM_SENDER: 'alerts@platform.example' }));

/** Makes a webhook in its own workspace; also returns a reader of the subjects of the mails about it. */
async function alone(settings: Record<string, unknown> = {}) {
  const own = await workspace();
  const address = await alertAddress(own);
  const subjects = async () => (await systemMailsTo(address)).map(({ subject }) => subject);
  return { ...(await watchedWebhook(own, settings)), subjects };
}
const warning = 'Webhook to hooks.example.com is failing';
const switchOff = 'Webhook to hooks.example.com has been switched off';

// Real time passes while a test runs, so each test checks 20 seconds before a time, and then at the time.
const shortlyBefore = (time: Date) => later(time, -20_000);

async function watchAt(time: Date): Promise<void> {
  await advanceClockTo(time);
  await health.watch();
}
const isWarned = async ({ read }: Watched) => (await read()).warnedAt !== null;
const isOff = async ({ read }: Watched) => (await read()).autoDisabled;

test.each([
  ['the default window and share', {}, 36, 360],
  ['5 minutes', { autoDisableAfterMinutes: 5 }, 0.5, 5],
  ['7 days', { autoDisableAfterMinutes: 10_080 }, 1008, 10_080],
  ['99 percent', { autoDisableAfterMinutes: 100, atRiskAlertPercent: 99 }, 99, 100],
  ['never a warning', { atRiskAlertPercent: 0 }, null, 360],
])('with %s it is warned of and switched off on the minute', async (_what, settings, warnAfter, offAfter) => {
  const webhook = await alone(settings);
  const failedAt = now();
  await webhook.fails(failedAt);
  if (warnAfter !== null) {
    await watchAt(shortlyBefore(later(failedAt, warnAfter * minuteMs)));
    expect(await isWarned(webhook)).toBe(false);
    await watchAt(later(failedAt, warnAfter * minuteMs));
    expect(await isWarned(webhook)).toBe(true);
  }
  const end = later(failedAt, offAfter * minuteMs);
  await watchAt(shortlyBefore(end));
  expect(await webhook.read()).toMatchObject({ active: true, autoDisabled: false });
  expect(await isWarned(webhook)).toBe(warnAfter !== null);
  await watchAt(end);
  const off = await webhook.read();
  expect(off).toMatchObject({ active: false, autoDisabled: true, failingSince: failedAt });
  expect(off.disabledAt!.getTime()).toBeGreaterThanOrEqual(end.getTime());
  expect(off.disabledAt!.getTime()).toBeLessThan(end.getTime() + minuteMs);
  expect(await settlementsOf(webhook.id)).toEqual(['skip']);
  expect(await webhook.subjects()).toEqual(warnAfter === null ? [switchOff] : [warning, switchOff]);
});

test('1 percent warns on the first failure, without waiting for the clock', async () => {
  const webhook = await alone({ atRiskAlertPercent: 1 });
  await webhook.fails();
  expect(await isWarned(webhook)).toBe(true);
});

test('an exempt webhook is neither warned of nor switched off, however long it fails', async () => {
  const webhook = await alone({ autoDisableExempt: true, atRiskAlertPercent: 1 });
  const failedAt = now();
  await webhook.fails(failedAt);
  await watchAt(later(failedAt, 30 * 24 * 60 * minuteMs));
  await webhook.fails();
  expect(await webhook.read()).toMatchObject({
    active: true,
    autoDisabled: false,
    warnedAt: null,
    failingSince: failedAt,
    consecutiveFailures: 2,
  });
  expect(await webhook.subjects()).toEqual([]);
});

test('a success in between starts the clock anew, and the next outage has a warning of its own', async () => {
  const webhook = await alone({ autoDisableAfterMinutes: 100 });
  const first = now();
  await webhook.fails(first);
  await watchAt(later(first, 90 * minuteMs));
  expect(await isWarned(webhook)).toBe(true);
  await webhook.succeeds();
  expect(await isWarned(webhook)).toBe(false);
  const second = now();
  await webhook.fails(second);
  await watchAt(shortlyBefore(later(second, 100 * minuteMs)));
  expect(await webhook.read()).toMatchObject({ active: true, failingSince: second });
  expect(await isWarned(webhook)).toBe(true);
  await watchAt(later(second, 100 * minuteMs));
  expect(await isOff(webhook)).toBe(true);
  expect(await webhook.subjects()).toEqual([warning, warning, switchOff]);
});

test('a hundred schedulers, many of them at once, warn once and switch off once', async () => {
  const webhook = await alone({ autoDisableAfterMinutes: 60 });
  const failedAt = now();
  await webhook.fails(failedAt);
  for (const minutes of [6, 60]) {
    await advanceClockTo(later(failedAt, minutes * minuteMs));
    for (let round = 0; round < 10; round += 1)
      await Promise.all(Array.from({ length: 5 }, () => health.watch()));
  }
  expect(await webhook.subjects()).toEqual([warning, switchOff]);
});

test('one that comes after more than fit a page is reached, when all of them fail since the same time', async () => {
  const webhook = await alone({ autoDisableAfterMinutes: 5 });
  const failedAt = now();
  await webhook.fails(failedAt);
  await copyRow('webhooks', idToBytes(webhook.id), 620, {
    id: "UNHEX(CONCAT('00', LEFT(SHA2(n, 256), 30)))",
    // These webhooks are never switched off, so they stay before the one that is not exempt.
    auto_disable_exempt: '1',
  });
  await watchAt(later(failedAt, 5 * minuteMs));
  expect(await isOff(webhook)).toBe(true);
  await query('DELETE FROM webhooks WHERE auto_disable_exempt = 1 AND failing_since = ?', [failedAt]);
});

test.each([
  ['is due', () => ({ due_at: now(), parked: 0 })],
  ['is overdue, without a job', () => ({ due_at: later(now(), -5 * minuteMs), parked: 1 })],
  ['is in flight', () => ({ due_at: later(now(), minuteMs), parked: 0, lease_token: Buffer.alloc(16, 7) })],
])('the clock leaves the switch-off to an attempt that %s', async (_what, columns) => {
  const webhook = await alone({ autoDisableAfterMinutes: 30 });
  const failedAt = now();
  await webhook.fails(failedAt);
  const end = later(failedAt, 30 * minuteMs);
  await advanceClockTo(end);
  const id = await webhook.addDelivery(columns());
  await health.watch();
  expect(await webhook.read()).toMatchObject({ active: true, failingSince: failedAt });
  // The warning is long overdue, and does not wait for an attempt to end.
  expect(await isWarned(webhook)).toBe(true);
  // The end of the attempt decides: the attempt failed, and the next one is much later.
  await query(
    `UPDATE webhook_deliveries SET due_at = ?, parked = 1, lease_token = NULL, attempts = 1, attempted_at = ?,
       error = 'timeout' WHERE id = ?`,
    [later(end, 600 * minuteMs), now(), id],
  );
  await webhook.fails();
  expect(await isOff(webhook)).toBe(true);
});

test('an attempt that is due later is not waited for', async () => {
  const webhook = await alone({ autoDisableAfterMinutes: 30 });
  const failedAt = now();
  await webhook.fails(failedAt);
  await webhook.addDelivery({ due_at: later(failedAt, 31 * minuteMs), parked: 0 });
  await webhook.addDelivery({ due_at: later(failedAt, 500 * minuteMs), parked: 1 });
  await webhook.addDelivery({ due_at: null, status: 'failed' });
  await watchAt(later(failedAt, 30 * minuteMs));
  expect(await isOff(webhook)).toBe(true);
});

test('a webhook that a 429 has paused is left alone until the pause is over', async () => {
  const webhook = await alone({ autoDisableAfterMinutes: 30 });
  const failedAt = now();
  await webhook.fails(failedAt);
  await changeWebhook(webhook.id, { paused_until: later(failedAt, 40 * minuteMs) });
  await webhook.addDelivery({ due_at: later(failedAt, 40 * minuteMs), parked: 1 });
  await watchAt(later(failedAt, 35 * minuteMs));
  expect(await isOff(webhook)).toBe(false);
  // The pause is over and the attempt is due: the end of the attempt decides.
  await watchAt(later(failedAt, 41 * minuteMs));
  expect(await isOff(webhook)).toBe(false);
  await query("UPDATE webhook_deliveries SET status = 'failed', due_at = NULL WHERE webhook_id = ?", [
    idToBytes(webhook.id),
  ]);
  await health.watch();
  expect(await isOff(webhook)).toBe(true);
});

test('a changed window counts from the next look on', async () => {
  const webhook = await alone();
  const failedAt = now();
  await webhook.fails(failedAt);
  await watchAt(later(failedAt, 60 * minuteMs));
  expect(await isOff(webhook)).toBe(false);
  await changeWebhook(webhook.id, { auto_disable_after_minutes: 60 });
  await health.watch();
  expect(await isOff(webhook)).toBe(true);
});
