// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { now, nowForAll } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { claimEmail } from '../../../shared/db/email/emails.system.ts';
import { claimSms } from '../../../shared/db/sms/messages.system.ts';
import { claimDelivery } from '../../../shared/db/webhooks/deliveries/deliveries.system.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { password, shows } from '../../api/ops/metrics-page.ts';
import { startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { deliveriesOf, makeWebhook, storeEvents } from '../../support/data/deliveries.ts';
import { acceptMany } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();
beforeAll(() => changeSettings({ OPS_PASSWORD: password }));

const leaseMs = 1_000;
/** The first worker after this many deaths gives up. */
const deaths = 10;

/** Claims the rows like a worker that dies, and waits until their leases have ended. */
async function dieWith(claims: ((at: Date, until: Date) => Promise<unknown>)[]): Promise<void> {
  const at = nowForAll();
  const until = new Date(at.getTime() + leaseMs);
  expect((await Promise.all(claims.map((claim) => claim(at, until)))).every(Boolean)).toBe(true);
  await advanceClock(leaseMs + 500);
}

// Shows F11
test('what kills every worker that takes it fails in the end, all else goes out, and the operator is told', async () => {
  const [own, sink, receiver, api] = await Promise.all([
    textingWorkspace(),
    startSmtpSink(),
    startWebhookReceiver(),
    startApi(),
  ]);
  const webhook = await makeWebhook(own, receiver.url);
  const [email, ...otherEmails] = await acceptMany(own, 4);
  await relay.relayAll();
  const texts = [await sendSms(api, own), await sendSms(api, own)] as const;
  const [delivery] = await deliveriesOf(webhook.id);
  for (let death = 0; death < deaths; death += 1)
    await dieWith([
      (at, until) => claimEmail({ id: email!.id, at, until }),
      (at, until) => claimSms({ id: texts[0].id, at, until }),
      (at, until) => claimDelivery({ id: delivery!.id, at, until }),
    ]);

  const worker = await startWorkerProcess([], { SMTP_URL: sink.url });
  const isOver = async () =>
    (await email!.read()).status === 'failed' &&
    (await smsOf(own, texts[0].id)).status === 'failed' &&
    (await deliveriesOf(webhook.id))[0]!.status === 'failed';
  await waitFor('they are given up', isOver);
  expect((await email!.read()).reason).toMatchObject({ code: 'internal_error', retryable: true });
  expect((await smsOf(own, texts[0].id)).reason).toMatchObject({ code: 'internal_error', retryable: true });
  expect((await deliveriesOf(webhook.id))[0]).toMatchObject({ attempts: 0, isHeld: false });
  for (const other of otherEmails)
    await waitFor('the other emails are sent', async () => (await other.read()).status === 'sent');
  await waitFor('so is the other text', async () => (await smsOf(own, texts[1].id)).status !== 'queued');
  await receiver.waitFor(3);

  const told = worker
    .output()
    .split('\n')
    .filter((line) => line.includes('given up, because'));
  for (const id of [email!.id, texts[0].id, delivery!.id])
    expect(told.filter((line) => line.includes(id))).toHaveLength(1);
  await shows(api, {
    'messaging_crash_loops_total{work="email"}': 1,
    'messaging_crash_loops_total{work="sms"}': 1,
    'messaging_crash_loops_total{work="webhook_delivery"}': 1,
  });
  // A delivery that a customer asks for again has all its attempts again.
  await api.request('POST', `/v2/webhooks/${webhook.id}/deliveries/${delivery!.id}/redeliver`, {
    key: own.key,
  });
  await waitFor('it is delivered', async () => (await deliveriesOf(webhook.id))[0]!.status === 'delivered');
  await worker.stop();
});

// Shows F11
test('what a dead worker had claimed is not taken up all at once, since one of them may be what killed it', async () => {
  const own = await workspace();
  const webhook = await makeWebhook(own, 'http://127.0.0.1:1/');
  await storeEvents(own, 12);
  await relay.relayAll();
  const emails = await acceptMany(own, 12);
  const deliveries = await deliveriesOf(webhook.id);
  await dieWith([
    ...emails.map(
      ({ id }) =>
        (at: Date, until: Date) =>
          claimEmail({ id, at, until }),
    ),
    ...deliveries.map(
      ({ id }) =>
        (at: Date, until: Date) =>
          claimDelivery({ id, at, until }),
    ),
  ]);
  await forgetRedis();
  await advanceClock(3_000);
  await recovery.sweep();
  for (const queue of ['send-email', 'deliver-webhook-retry']) {
    const jobs = await queueOf(queue).getJobs(['delayed', 'waiting', 'prioritized']);
    const delays = jobs.map(({ delay }) => delay).toSorted((one, other) => one - other);
    expect(jobs.length).toBeGreaterThanOrEqual(12);
    expect(delays.at(-1)! - delays[0]!).toBeGreaterThan(1_000);
    expect(delays.at(-1)!).toBeLessThanOrEqual(12_000);
    expect(new Set(delays).size).toBeGreaterThan(6);
  }
});

test('what Redis merely forgot comes back at once', async () => {
  const own = await workspace();
  const email = await acceptEmail(own);
  await waitFor('its job is in Redis', () => queueOf('send-email').getJob(`${email.id}-1`));
  await forgetRedis();
  await query('UPDATE emails SET due_at = ?', [new Date(now().getTime() - 3_000)]);
  await recovery.sweep();
  expect((await queueOf('send-email').getJob(`${email.id}-1`))!.delay).toBe(0);
});
