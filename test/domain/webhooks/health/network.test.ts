import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { query } from '../../../../shared/db/client.ts';
import * as health from '../../../../shared/domain/webhooks/health/health.ts';
import { newId } from '../../../../shared/formats/ids.ts';
import { password, samples } from '../../../api/ops/metrics-page.ts';
import { startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import {
  alertAddress,
  later,
  minuteMs,
  systemMailsTo,
  watchedWebhook,
} from '../../../support/data/webhook-health.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { advanceClock, advanceClockTo } from '../../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let address: string;
beforeAll(async () => {
  changeSettings({ SYSTEM_SENDER: 'alerts@platform.example', OPS_PASSWORD: password });
  own = await workspace();
  address = await alertAddress(own);
});
beforeEach(async () => {
  // The attempts of earlier tests are now too old to count.
  await advanceClock(20 * minuteMs);
});

let tests = 0;

const newWorkspaces = (length: number) => Array.from({ length }, () => newId('workspace', new Date()));
const someWorkspaces = newWorkspaces(5);

/**
 * Notes attempts at `failing` and `reached` hosts of this test. The hosts belong to these workspaces in turn, or, where
 * they are shared, each to all of them.
 */
async function hosts(
  name: string,
  { failing, reached }: { failing: number; reached: number },
  workspaces = someWorkspaces,
  areShared = false,
): Promise<void> {
  const ends = Array.from({ length: failing + reached }, (_, index) =>
    (areShared ? workspaces : [workspaces[index % workspaces.length]!]).map((workspaceId) => ({
      webhookId: 'webhook_00000000000000000000000000',
      workspaceId,
      host: `${index}.${name}.example:8443`,
      isSuccess: index >= failing,
      endedAt: now(),
    })),
  );
  await health.note(ends.flat());
}
const uniqueName = () => `test-${(tests += 1)}`;

test.each([
  ['17 of 20 hosts fail', 17, 3, true],
  ['16 of 20, which is 80 percent and not over', 16, 4, false],
  ['all of 19, which are too few', 19, 0, false],
  ['all of 20', 20, 0, true],
  ['81 of 100', 81, 19, true],
  ['80 of 100', 80, 20, false],
])(
  'our own network is suspect when %s: it is so only beyond both limits',
  async (_what, failing, reached, isSuspect) => {
    await hosts(uniqueName(), { failing, reached });
    expect(await health.isNetworkSuspect()).toBe(isSuspect);
  },
);

test('the hosts of one customer are no sign of it: a hundred dead ones hold back no warning and no switch-off of others', async () => {
  await hosts(uniqueName(), { failing: 100, reached: 0 }, newWorkspaces(1));
  expect(await health.isNetworkSuspect()).toBe(false);
  const webhook = await watchedWebhook(own, { autoDisableAfterMinutes: 5, atRiskAlertPercent: 99 });
  await webhook.fails();
  await advanceClock(6 * minuteMs);
  await health.watch();
  expect(await webhook.read()).toMatchObject({ active: false, autoDisabled: true });
  expect((await webhook.read()).warnedAt).not.toBeNull();
});

test.each([
  ['two workspaces, which are too few', 2, 0, false],
  ['three workspaces', 3, 0, true],
  ['three of ten workspaces, which count for a fifth each at most', 3, 7, false],
])(
  'our own network is suspect when all hosts of these fail: %s',
  async (_what, failing, healthy, isSuspect) => {
    const ids = newWorkspaces(failing + healthy);
    await hosts(uniqueName(), { failing: failing * 40, reached: 0 }, ids.slice(0, failing));
    if (healthy > 0) await hosts(uniqueName(), { failing: 0, reached: healthy * 5 }, ids.slice(failing));
    expect(await health.isNetworkSuspect()).toBe(isSuspect);
  },
);

test.each([
  ['all of 1 host, which are too few', 1, 0, false],
  ['all of 19, which are too few', 19, 0, false],
  ['all of 20', 20, 0, true],
  ['17 of 20', 17, 3, true],
  ['16 of 20, which is 80 percent and not over', 16, 4, false],
])(
  'a host that 20 workspaces share counts once, when %s fail',
  async (_what, failing, reached, isSuspect) => {
    await hosts(uniqueName(), { failing, reached }, newWorkspaces(20), true);
    expect(await health.isNetworkSuspect()).toBe(isSuspect);
  },
);

test('the dead host of a hundred customers says nothing about our network while 19 hosts of others are reached', async () => {
  await hosts(uniqueName(), { failing: 1, reached: 0 }, newWorkspaces(100), true);
  await hosts(uniqueName(), { failing: 0, reached: 19 });
  expect(await health.isNetworkSuspect()).toBe(false);
});

test('the last result of a host counts, whatever came before it', async () => {
  const name = uniqueName();
  await hosts(name, { failing: 20, reached: 0 });
  expect(await health.isNetworkSuspect()).toBe(true);
  await advanceClock(1_000);
  await hosts(name, { failing: 0, reached: 20 });
  expect(await health.isNetworkSuspect()).toBe(false);
  await advanceClock(2 * minuteMs);
  await hosts(name, { failing: 20, reached: 0 });
  expect(await health.isNetworkSuspect()).toBe(true);
});

test('what was tried more than 10 minutes ago does not count, and is gone after a day', async () => {
  // A purge takes a thousand rows, and earlier tests may have left more.
  await query('DELETE FROM webhook_hosts');
  const name = uniqueName();
  await hosts(name, { failing: 20, reached: 0 });
  await advanceClock(9 * minuteMs);
  expect(await health.isNetworkSuspect()).toBe(true);
  await advanceClock(2 * minuteMs);
  expect(await health.isNetworkSuspect()).toBe(false);
  const stored = async () =>
    (await query('SELECT host FROM webhook_hosts WHERE host LIKE ?', [`%.${name}.example%`])).length;
  await advanceClock(23 * 60 * minuteMs);
  await health.watch();
  expect(await stored()).toBe(20);
  await advanceClock(60 * minuteMs);
  await health.watch();
  expect(await stored()).toBe(0);
});

test('a host is written at most once a minute for each result', async () => {
  const name = uniqueName();
  const triedAt = async () => {
    const [row] = await query('SELECT tried_at FROM webhook_hosts WHERE host LIKE ?', [`%.${name}.example%`]);
    return row!['tried_at'] as Date;
  };
  await hosts(name, { failing: 1, reached: 0 });
  const first = await triedAt();
  await advanceClock(20_000);
  await hosts(name, { failing: 1, reached: 0 });
  expect(await triedAt()).toEqual(first);
  await hosts(name, { failing: 0, reached: 1 });
  const second = await triedAt();
  expect(second > first).toBe(true);
  await advanceClock(45_000);
  await hosts(name, { failing: 1, reached: 0 });
  expect((await triedAt()) > second).toBe(true);
});

test('a host that cannot be forgotten does not keep a failing webhook from being switched off', async () => {
  const webhook = await watchedWebhook(own, { autoDisableAfterMinutes: 60 });
  await hosts(uniqueName(), { failing: 1, reached: 0 });
  const failedAt = now();
  await webhook.fails(failedAt);
  await query(`CREATE TRIGGER refuse_forgetting BEFORE DELETE ON webhook_hosts FOR EACH ROW
    SIGNAL SQLSTATE '45000'`);
  await advanceClock(49 * 60 * minuteMs);
  await expect(health.watch()).rejects.toThrow();
  await query('DROP TRIGGER refuse_forgetting');
  expect(await webhook.read()).toMatchObject({ active: false });
});

test('while it is suspect nobody is warned or switched off, by no way, and all is made up for when it is over', async () => {
  const byAttempt = await watchedWebhook(own, { autoDisableAfterMinutes: 60 });
  const byClock = await watchedWebhook(own, { autoDisableAfterMinutes: 60 });
  const atRisk = await watchedWebhook(own, { autoDisableAfterMinutes: 100 });
  const mailsBefore = (await systemMailsTo(address)).length;
  const failedAt = now();
  for (const { fails } of [byAttempt, byClock, atRisk]) await fails(failedAt);
  await advanceClockTo(later(failedAt, 61 * minuteMs));
  const name = uniqueName();
  await hosts(name, { failing: 30, reached: 1 });

  await byAttempt.fails();
  await health.watch();
  for (const webhook of [byAttempt, byClock, atRisk])
    expect(await webhook.read()).toMatchObject({ active: true, warnedAt: null, failingSince: failedAt });
  // The failure is counted all the same.
  expect(await byAttempt.read()).toMatchObject({ consecutiveFailures: 2 });
  expect((await systemMailsTo(address)).length).toBe(mailsBefore);

  await hosts(name, { failing: 0, reached: 31 });
  await health.watch();
  for (const webhook of [byAttempt, byClock])
    expect(await webhook.read()).toMatchObject({ active: false, autoDisabled: true });
  expect(await atRisk.read()).toMatchObject({ active: true });
  expect((await atRisk.read()).warnedAt).not.toBeNull();
  // Each webhook was warned before it was switched off.
  expect((await systemMailsTo(address)).length).toBe(mailsBefore + 5);
});

test('the metrics show it, and readiness does not follow it', async () => {
  const api = await startApi();
  const gauge = async () => (await samples(api)).get('messaging_webhook_network_suspect');
  expect(await gauge()).toBe(0);
  await hosts(uniqueName(), { failing: 25, reached: 0 });
  expect(await gauge()).toBe(1);
  expect((await api.request('GET', '/health/ready')).status).toBe(200);
});
