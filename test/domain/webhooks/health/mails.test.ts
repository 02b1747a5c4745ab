import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import * as health from '../../../../shared/domain/webhooks/health/health.ts';
import { firstUuidAt } from '../../../../shared/formats/ids.ts';
import { workspace } from '../../../support/data/factory.ts';
import {
  alertAddress,
  changeWebhook,
  later,
  minuteMs,
  systemMailsTo,
  watchedWebhook,
} from '../../../support/data/webhook-health.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { advanceClockTo } from '../../../support/time/advance-clock.ts';

useDatabase();

beforeAll(() =>
  changeSettings({
    SYSTEM_SENDER: 'alerts@platform.example',
    PUBLIC_URL: 'https://api.platform.example',
    WEBHOOK_TIMEOUT_SECONDS: 10,
  }),
);

const shown = (time: Date) => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

async function scene(settings: Record<string, unknown> = {}, url?: string) {
  const own = await workspace();
  const address = await alertAddress(own);
  const webhook = await watchedWebhook(own, settings, url);
  return { ...webhook, own, mails: () => systemMailsTo(address) };
}

test('the mails say which webhook, since when, what came back, what comes next and how to restore it', async () => {
  const webhook = await scene(
    { description: 'Orders\nof the shop', autoDisableAfterMinutes: 90, atRiskAlertPercent: 50 },
    'https://hooks.example.com:8443/orders?token=secret#part',
  );
  const failedAt = now();
  await webhook.fails(failedAt);
  await webhook.fails(later(failedAt, 10));
  const lastAt = later(failedAt, 20 * minuteMs);
  await webhook.addDelivery({
    parked: 1,
    attempts: 2,
    due_at: later(lastAt, 600 * minuteMs),
    attempted_at: lastAt,
    response_status: 503,
    error: 'http_status',
  });
  // Neither delivery is the last failure: the first was not attempted, and the second was only asked to wait.
  await webhook.addDelivery({ parked: 1, due_at: later(lastAt, 601 * minuteMs) });
  await webhook.addDelivery({
    parked: 1,
    due_at: later(lastAt, 602 * minuteMs),
    attempted_at: later(lastAt, 1),
    response_status: 429,
    error: 'http_status',
  });
  // The oldest waiting delivery was made long before the outage.
  const madeAt = later(failedAt, -300 * minuteMs);
  await webhook.addDelivery({
    parked: 1,
    due_at: later(lastAt, 603 * minuteMs),
    created_at: madeAt,
    id: firstUuidAt(madeAt),
  });
  await advanceClockTo(later(failedAt, 45 * minuteMs));
  await health.watch();
  await advanceClockTo(later(failedAt, 90 * minuteMs));
  await health.watch();

  const facts = [
    `Webhook:         ${webhook.id}`,
    'URL:             https://hooks.example.com:8443/orders?token=secret#part',
    'Description:     Orders of the shop',
    `Workspace:       Tests (${webhook.own.workspaceId})`,
    `Failing since:   ${shown(failedAt)}`,
    'Failed attempts: 2 in a row',
    `Last failure:    HTTP status 503, at ${shown(lastAt)}`,
  ].join('\n');
  const [warning, switchOff, ...more] = await webhook.mails();
  expect(more).toEqual([]);
  expect(warning!.subject).toBe('Webhook to hooks.example.com:8443 is failing');
  expect(warning!.text).toContain(facts);
  expect(warning!.text).toContain(
    `If none is accepted by ${shown(later(failedAt, 90 * minuteMs))}, the webhook is switched off.`,
  );
  expect(switchOff!.subject).toBe('Webhook to hooks.example.com:8443 has been switched off');
  expect(switchOff!.text).toContain(facts);
  expect(switchOff!.text).toContain('no delivery to it was accepted for 90 minutes');
  const address = `https://api.platform.example/v2/webhooks/${webhook.id}`;
  expect(switchOff!.text).toContain(`PATCH ${address} {"active": true}`);
  expect(switchOff!.text).toContain(`POST ${address}/recover {"since": "${madeAt.toISOString()}"}`);
});

test.each([
  ['timeout', 'no answer in time'],
  ['dns', 'the name of the host could not be resolved'],
  ['connection', 'the connection failed'],
  ['tls', 'the TLS handshake failed'],
  ['blocked_address', 'webhooks may not reach the address'],
])('a failure without an answer is put in words: %s', async (error, words) => {
  const webhook = await scene({ atRiskAlertPercent: 1 });
  await webhook.addDelivery({ status: 'failed', completed_at: now(), attempted_at: now(), error });
  await webhook.fails();
  const [mail] = await webhook.mails();
  expect(mail!.text).toContain(`Last failure:    ${words}, at `);
});

test.each([
  [5, '5 minutes'],
  [60, '1 hour'],
  [360, '6 hours'],
  [10_080, '7 days'],
  [1500, '25 hours'],
])('a window of %i minutes reads %s', async (minutes, words) => {
  const webhook = await scene({ autoDisableAfterMinutes: minutes });
  const failedAt = now();
  await webhook.fails(failedAt);
  await webhook.fails(later(failedAt, minutes * minuteMs));
  expect((await webhook.mails()).at(-1)!.text).toContain(`no delivery to it was accepted for ${words}.`);
});

test('without an alert address or a sender the webhook is switched off all the same', async () => {
  const silent = await watchedWebhook(await workspace(), { autoDisableAfterMinutes: 5 });
  const failedAt = now();
  await silent.fails(failedAt);
  await silent.fails(later(failedAt, 5 * minuteMs));
  expect(await silent.read()).toMatchObject({ active: false, autoDisabled: true });

  const webhook = await scene({ autoDisableAfterMinutes: 5, atRiskAlertPercent: 1 });
  changeSettings({ SYSTEM_SENDER: undefined });
  await webhook.fails();
  expect((await webhook.read()).warnedAt).not.toBeNull();
  await webhook.fails(later(now(), 5 * minuteMs));
  expect(await webhook.read()).toMatchObject({ active: false, autoDisabled: true });
  expect(await webhook.mails()).toEqual([]);
  changeSettings({ SYSTEM_SENDER: 'alerts@platform.example' });
});

test('a url that nobody can read does not keep the others from being looked at', async () => {
  const broken = await scene({ autoDisableAfterMinutes: 5 });
  const webhook = await scene({ autoDisableAfterMinutes: 5 });
  const failedAt = now();
  await broken.fails(failedAt);
  await webhook.fails(failedAt);
  await changeWebhook(broken.id, { url: 'nonsense' });
  await advanceClockTo(later(failedAt, 5 * minuteMs));
  await health.watch();
  for (const { read } of [broken, webhook]) expect(await read()).toMatchObject({ autoDisabled: true });
});
