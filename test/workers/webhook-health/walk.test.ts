import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { currentVersion } from '../../../shared/common/versions.ts';
import { transaction } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import * as health from '../../../shared/domain/webhooks/health/health.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { acceptEmail, callerOf } from '../../support/data/accepted-email.ts';
import { deliveriesOf } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import {
  alertAddress,
  later,
  minuteMs,
  systemMailsTo,
  watchedWebhook,
} from '../../support/data/webhook-health.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { answers, type Respond, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';

useDatabase();

beforeAll(() => changeSettings({ SYSTEM_SENDER: 'alerts@platform.example' }));

/** Sends one event to an endpoint, and offers a view of the results so far. */
async function scene(settings: Record<string, unknown>, respond: Respond) {
  const own = await workspace();
  const address = await alertAddress(own);
  const receiver = await startWebhookReceiver({ respond });
  const webhook = await watchedWebhook(own, settings, receiver.url);
  await acceptEmail(own);
  await relay.relayAll();
  const [delivery] = await deliveriesOf(webhook.id);
  const seen = async () => ({
    attempts: receiver.requests.length,
    mails: (await systemMailsTo(address)).map(({ subject }) => subject.replace(/.* (is|been) /, '')),
    isOn: (await webhook.read()).active,
  });
  const dueAt = async () => (await deliveriesOf(webhook.id))[0]!.dueAt;
  return { own, deliveryId: delivery!.id, dueAt, webhook, seen };
}
type Scene = Awaited<ReturnType<typeof scene>>;

/** Returns the minutes to look at: every ten minutes, and minute by minute where a change is expected. */
function minutesOf(hours: number, expected: number[]): number[] {
  const grid = Array.from({ length: hours * 6 + 1 }, (_, index) => index * 10);
  const near = expected.flatMap((minute) => [minute - 1, minute]);
  return [...new Set([...grid, ...near])].filter((minute) => minute >= 0).toSorted((a, b) => a - b);
}

type Change = { minute: number; what: string };

/**
 * Goes through these minutes of service time as the workers would, and returns the changes with their minutes. An
 * attempt is made at the moment when it is due, and the check of the webhook's health at half past the minute.
 */
async function walk({ deliveryId, dueAt, seen }: Scene, minutes: number[]): Promise<Change[]> {
  const start = now();
  const changes: Change[] = [];
  let before = { attempts: 0, mails: [] as string[], isOn: true };
  for (const minute of minutes) {
    const due = await dueAt();
    if (due && due < later(start, (minute + 1) * minuteMs)) {
      await advanceClockTo(due);
      await attempt(deliveryId);
    }
    await advanceClockTo(later(start, minute * minuteMs + 30_000));
    await health.watch();
    const after = await seen();
    const note = (what: string) => changes.push({ minute, what });
    if (after.attempts > before.attempts) note('attempt');
    for (const mail of after.mails.slice(before.mails.length)) note(mail);
    if (after.isOn !== before.isOn) note('off');
    before = after;
  }
  return changes;
}
const attemptsAt = (...minutes: number[]) => minutes.map((minute) => ({ minute, what: 'attempt' }));

// Shows F31
test('26 hours of failures: a warning after 36 minutes, and off after 6 hours, between two attempts', async () => {
  const failing = await scene({}, () => ({ status: 500 }));
  expect(await walk(failing, minutesOf(26, [5, 20, 36, 80, 320, 360, 800, 1520]))).toEqual([
    ...attemptsAt(0, 5, 20),
    { minute: 36, what: 'failing' },
    ...attemptsAt(80, 320),
    { minute: 360, what: 'switched off' },
    { minute: 360, what: 'off' },
  ]);
  expect(await failing.webhook.read()).toMatchObject({ autoDisabled: true, consecutiveFailures: 5 });
});

test('26 hours of failures of an exempt webhook: all 7 attempts, and not a word', async () => {
  const exempt = await scene({ autoDisableExempt: true }, () => ({ status: 500 }));
  expect(await walk(exempt, minutesOf(26, [5, 20, 80, 320, 800, 1520]))).toEqual(
    attemptsAt(0, 5, 20, 80, 320, 800, 1520),
  );
  expect(await exempt.webhook.read()).toMatchObject({ active: true, consecutiveFailures: 7 });
  expect(await deliveriesOf(exempt.webhook.id)).toMatchObject([{ status: 'failed', attempts: 7 }]);
});

test('a window of 5 minutes ends with the attempt that is due then', async () => {
  const hasty = await scene({ autoDisableAfterMinutes: 5, atRiskAlertPercent: 80 }, () => ({ status: 500 }));
  expect(await walk(hasty, [0, 1, 2, 3, 4, 5, 6, 20])).toEqual([
    ...attemptsAt(0),
    { minute: 4, what: 'failing' },
    ...attemptsAt(5),
    { minute: 5, what: 'switched off' },
    { minute: 5, what: 'off' },
  ]);
  expect(await hasty.webhook.read()).toMatchObject({ consecutiveFailures: 2 });
});

test('a 429 among the failures neither counts nor ends the outage, and its pause puts the switch-off off', async () => {
  // The endpoint fails at 0 and 5 minutes; at 20 it asks to wait 2 hours, then one hour more, and then it fails again.
  const busy = new Map([
    [2, '7200'],
    [3, '3600'],
  ]);
  const busyForLong = await scene({ autoDisableAfterMinutes: 120 }, (_request, index) =>
    busy.has(index) ? answers.tooManyRequests(busy.get(index)) : { status: 500 },
  );
  expect(await walk(busyForLong, minutesOf(4, [5, 12, 20, 120, 140, 200]))).toEqual([
    ...attemptsAt(0, 5),
    { minute: 12, what: 'failing' },
    ...attemptsAt(20, 140, 200),
    { minute: 200, what: 'switched off' },
    { minute: 200, what: 'off' },
  ]);
  expect(await busyForLong.webhook.read()).toMatchObject({ consecutiveFailures: 3 });
});

test('a success ends the outage before its window does', async () => {
  const webhook = await scene({}, (_request, index) => ({ status: index < 4 ? 500 : 200 }));
  expect(await walk(webhook, minutesOf(8, [5, 20, 36, 80, 320, 360]))).toEqual([
    ...attemptsAt(0, 5, 20),
    { minute: 36, what: 'failing' },
    ...attemptsAt(80, 320),
  ]);
  expect(await webhook.webhook.read()).toMatchObject({
    active: true,
    failingSince: null,
    consecutiveFailures: 0,
  });
});

test('a test of the webhook tells nothing of its health', async () => {
  const { own, webhook, deliveryId } = await scene({}, () => ({ status: 500 }));
  await attempt(deliveryId);
  const failing = await webhook.read();
  expect(failing).toMatchObject({ consecutiveFailures: 1 });
  await transaction(() => webhooks.sendTest(callerOf(own), webhook.id, currentVersion));
  await relay.relayAll();
  await attempt((await deliveriesOf(webhook.id))[1]!.id);
  expect(await deliveriesOf(webhook.id)).toMatchObject([
    { attempts: 1 },
    { eventType: 'webhook.test', attempts: 1 },
  ]);
  expect(await webhook.read()).toEqual(failing);
});
