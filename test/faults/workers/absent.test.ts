// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { password, samples } from '../../api/ops/metrics-page.ts';
import { startApi } from '../../support/api/start-api.ts';
import { makeWebhook } from '../../support/data/deliveries.ts';
import { emailCounts } from '../../support/data/email-rows.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();
beforeAll(() => changeSettings({ OPS_PASSWORD: password }));

const minuteMs = 60_000;

// Shows F14
test('no worker for ten minutes: the metrics show how long work has waited, and it goes out in the order of its time', async () => {
  const [own, sink, receiver, api] = await Promise.all([
    textingWorkspace(),
    startSmtpSink(),
    startWebhookReceiver(),
    startApi(),
  ]);
  await makeWebhook(own, receiver.url);
  const start = now().getTime();
  // Some emails are due at once, the others while no worker runs.
  const minutes = [0, 7, 9, 0, 8, 6, 0, 7];
  for (const minute of minutes)
    await sendEmail(api, own, {
      subject: `Minute ${minute}`,
      ...(minute > 0 && { scheduledAt: new Date(start + minute * minuteMs).toISOString() }),
    });
  await sendSms(api, own);
  await advanceClock(10 * minuteMs);

  const seen = await samples(api);
  for (const work of ['email_transactional', 'sms', 'event'])
    expect(seen.get(`messaging_oldest_due_seconds{work="${work}"}`)).toBeGreaterThanOrEqual(600);
  const ready = await api.request('GET', '/health/ready');
  expect([ready.status, ready.body]).toEqual([200, { ready: true, mysql: 'up', redis: 'up' }]);
  await sendEmail(api, own, { subject: 'Minute 10' });

  const worker = await startWorkerProcess([], {
    SMTP_URL: sink.url,
    EMAIL_CONCURRENCY: '1',
    SMTP_CONNECTIONS: '1',
  });
  await sink.waitFor(minutes.length + 1);
  const order = sink.messages.map(({ raw }) =>
    Number(/^Subject: Minute (\d+)\r$/m.exec(raw.toString())?.[1]),
  );
  // Only the missed emails must come in order; a new email need not wait behind them.
  expect(order.filter((minute) => minute < 10)).toEqual(minutes.toSorted((one, other) => one - other));
  await receiver.waitFor(minutes.length + 1);
  await waitFor('all is done', async () => (await emailCounts(own)).sent === minutes.length + 1);
  await waitFor('nothing is due any more', async () => {
    const after = await samples(api);
    return ['email_transactional', 'sms', 'event', 'webhook_delivery'].every(
      (work) => after.get(`messaging_oldest_due_seconds{work="${work}"}`) === 0,
    );
  });
  await worker.stop();
  expect(sink.messages).toHaveLength(minutes.length + 1);
});
