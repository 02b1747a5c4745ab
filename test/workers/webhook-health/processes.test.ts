// @slow: it starts, stops and breaks processes of the platform.
import PostalMime from 'postal-mime';
import { beforeAll, expect, test, vi } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { transaction } from '../../../shared/db/client.ts';
import * as deliveries from '../../../shared/domain/webhooks/deliveries/again.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { acceptEmail, callerOf } from '../../support/data/accepted-email.ts';
import { deliveriesOf } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { alertAddress, later, minuteMs, watchedWebhook } from '../../support/data/webhook-health.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

vi.hoisted(() => {
  // A job that is due later waits in its row, so that a shifted clock brings it on at once.
  Object.assign(process.env, { WAKE_AHEAD_SECONDS: '1', WEBHOOK_HEALTH_SECONDS: '0.3' });
});

useDatabase();

let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url, SYSTEM_SENDER: 'Platform <alerts@platform.example>' });
});

async function scene(settings: Record<string, unknown> = {}) {
  const own = await workspace();
  const address = await alertAddress(own);
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const webhook = await watchedWebhook(own, settings, receiver.url);
  const mails = () => sink.messages.filter(({ envelope }) => envelope.to.includes(address));
  const subjects = () =>
    mails().map(
      ({ raw }) => /^Subject: .*(is failing|switched off)/m.exec(raw.toString().replace(/\r\n /g, ' '))?.[1],
    );
  return { own, receiver, webhook, mails, subjects };
}

/** Waits until the job webhook-health, which compares webhooks with the clock, has run `times` times more. */
async function clockRuns(times: number): Promise<void> {
  const stretch = async () => {
    const done = await queueOf('webhook-health').getJobs(['completed'], 0, 0, false);
    return done[0]?.id ?? '';
  };
  for (let run = 0; run < times; run += 1) {
    const before = await stretch();
    await waitFor('the clock runs once more', async () => (await stretch()) !== before);
  }
}

test('from the first failure to the restored webhook: two processes warn and switch off once between them', async () => {
  const { own, receiver, webhook, mails, subjects } = await scene();
  const workers = await Promise.all([startWorkerProcess(), startWorkerProcess()]);
  await acceptEmail(own);
  await receiver.waitFor(1);
  const failingSince = await waitFor('the failure is noted', async () => (await webhook.read()).failingSince);

  // The next wait starts at the end of the attempt, so the clock moves only after the failure has been stored.
  const failuresNoted = (count: number) =>
    waitFor('the failures are noted', async () => (await webhook.read()).consecutiveFailures === count);

  // Each later attempt is made when its time has come, and fails too.
  for (const [minutes, attempts] of [
    [5.1, 2],
    [20.2, 3],
  ] as const) {
    await advanceClockTo(later(failingSince, minutes * minuteMs));
    await receiver.waitFor(attempts);
    await failuresNoted(attempts);
  }
  await clockRuns(2);
  expect(subjects()).toEqual([]);
  await advanceClockTo(later(failingSince, 36 * minuteMs));
  await waitFor('the warning arrives', () => subjects().length === 1);
  for (const [minutes, attempts] of [
    [80.5, 4],
    [321, 5],
  ] as const) {
    await advanceClockTo(later(failingSince, minutes * minuteMs));
    await receiver.waitFor(attempts);
    await failuresNoted(attempts);
  }
  expect(await webhook.read()).toMatchObject({ active: true, failingSince });

  // A restart in between changes nothing, not even after a kill.
  await Promise.all(workers.map((worker) => worker.kill()));
  await advanceClockTo(later(failingSince, 360 * minuteMs));
  // One worker runs in its own process, and one in this process.
  const restarted = await Promise.all([startWorkerProcess(), runWorkers()]);
  await waitFor('it is switched off', async () => (await webhook.read()).autoDisabled);
  await waitFor('the second mail arrives', () => subjects().length === 2);
  await waitFor('what waited is skipped', async () =>
    (await deliveriesOf(webhook.id)).every(({ status }) => status === 'skipped'),
  );
  await acceptEmail(own);
  await waitFor('what comes now is skipped', async () => (await deliveriesOf(webhook.id)).length === 2);
  expect((await deliveriesOf(webhook.id)).map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  await clockRuns(3);
  expect(subjects()).toEqual(['is failing', 'switched off']);
  expect(receiver.requests).toHaveLength(5);

  receiver.respondWith({ status: 200 });
  await transaction(() => webhooks.change(callerOf(own), webhook.id, { active: true }));
  await acceptEmail(own);
  await receiver.waitFor(6);
  // As the mail says, the webhook can still get the deliveries that it missed.
  const { text } = await PostalMime.parse(mails()[1]!.raw);
  const since = /"since": "([^"]+)"/.exec(text!.replace(/\s+/g, ' '))![1]!;
  expect(await deliveries.recover(callerOf(own), webhook.id, new Date(since))).toBe(2);
  await waitFor('all is delivered', async () =>
    (await deliveriesOf(webhook.id)).every(({ status }) => status === 'delivered'),
  );
  await clockRuns(2);
  expect(await webhook.read()).toMatchObject({ active: true, autoDisabled: false, failingSince: null });
  expect(subjects()).toHaveLength(2);
  await Promise.all(restarted.map((worker) => worker.stop()));
});

test('while most hosts fail at once nobody is switched off, and the operator is told', async () => {
  const [worker, hasty, others] = await Promise.all([
    startWorkerProcess(),
    Promise.all([1, 2].map(() => scene({ autoDisableAfterMinutes: 5, atRiskAlertPercent: 0 }))),
    Promise.all(Array.from({ length: 19 }, () => scene())),
  ]);
  const scenes = [...hasty, ...others];
  const alarms = () => worker.output().split('look at our own network').length - 1;
  await Promise.all(scenes.map(({ own }) => acceptEmail(own)));
  await Promise.all(scenes.map(({ receiver }) => receiver.waitFor(1)));
  await waitFor('all failures are noted', async () =>
    (await Promise.all(scenes.map(({ webhook }) => webhook.read()))).every(
      ({ failingSince }) => failingSince,
    ),
  );
  await waitFor('the alarm is raised, before anything is due', () => alarms() === 1);
  // The second attempts fail too; for two of the webhooks they come at the end of the window.
  await advanceClockTo(later(now(), 5.2 * minuteMs));
  await Promise.all(scenes.map(({ receiver }) => receiver.waitFor(2)));
  await clockRuns(3);
  expect((await Promise.all(scenes.map(({ webhook }) => webhook.read()))).every(({ active }) => active)).toBe(
    true,
  );
  expect(scenes.flatMap(({ subjects }) => subjects())).toEqual([]);
  // The job has run many times, but does not raise an alarm each time.
  expect(alarms()).toBeLessThanOrEqual(2);
  // The other endpoints answer again.
  for (const { receiver } of scenes.slice(hasty.length)) receiver.respondWith({ status: 200 });
  await advanceClockTo(later(now(), 2 * minuteMs));
  await Promise.all(scenes.map(({ own }) => acceptEmail(own)));
  await waitFor('the two that still fail are switched off', async () => {
    const read = await Promise.all(scenes.map(({ webhook }) => webhook.read()));
    return read.map(({ autoDisabled }) => autoDisabled).filter(Boolean).length === 2;
  });
  await waitFor('their mails arrive', () => scenes.flatMap(({ subjects }) => subjects()).length >= 2);
  await clockRuns(2);
  expect(scenes.flatMap(({ subjects }) => subjects())).toEqual(['switched off', 'switched off']);
  await worker.stop();
});
