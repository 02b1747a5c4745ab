// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { password, shows } from '../../api/ops/metrics-page.ts';
import { startApi } from '../../support/api/start-api.ts';
import { alterWebhook, dueDelivery } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();
beforeAll(() => changeSettings({ OPS_PASSWORD: password }));

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

// Shows F32
test('a delivery whose secret does not open is put off by minutes, the operator sees it, and it ends after 7 days', async () => {
  const [own, receiver, api] = await Promise.all([workspace(), startWebhookReceiver(), startApi()]);
  const broken = await dueDelivery(own, receiver.url);
  await alterWebhook(broken.webhook.id, { secret: Buffer.from('gone:nothing') });
  const worker = await startWorkerProcess(['deliver-webhook', 'sweep']);
  await waitFor(
    'it is put off',
    async () => (await broken.read()).dueAt!.getTime() > now().getTime() + 4 * minuteMs,
  );
  expect(await broken.read()).toMatchObject({ status: 'pending', attempts: 0, isHeld: false });
  await waitFor('the log says it', () =>
    worker.output().includes('a delivery cannot be made by a fault of our own'),
  );
  await shows(api, { 'messaging_own_faults_total{work="webhook_delivery"}': 1 });
  await worker.stop();

  // Every attempt before 7 days puts the delivery off; the first attempt after 7 days ends it.
  await advanceClock(7 * dayMs - 4 * minuteMs);
  expect(await attempt(broken.id)).toBe('done');
  expect(await broken.read()).toMatchObject({ status: 'failed', attempts: 0, dueAt: null, isHeld: false });
  expect(receiver.requests).toHaveLength(0);
});
