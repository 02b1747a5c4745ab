// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { deliveryTable } from '../../../shared/db/webhooks/deliveries/deliveries.system.ts';
import { updateParked } from '../../../shared/db/work/admission.system.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { startApi } from '../../support/api/start-api.ts';
import { deliveriesInJobs, deliveriesOf, makeWebhook, storeEvents } from '../../support/data/deliveries.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  own = await textingWorkspace();
});

const hours = 3_600_000;
const jobsOf = (queue: string) => queueOf(queue).getJobs(['waiting', 'prioritized', 'delayed']);

/** Sweeps four times, as happens while the job of a delivery that waited for hours still waits for a worker. */
async function sweepOften(): Promise<void> {
  for (let run = 0; run < 4; run += 1) {
    await recovery.sweep();
    await advanceClock(3_000);
  }
}

// Shows F36
test('deliveries that had waited for hours before they were let in have a place in one job each, however often it is swept', async () => {
  const webhook = await makeWebhook(own, 'http://127.0.0.1:1/');
  await storeEvents(own, 40);
  await relay.relayAll();
  const since = new Date(now().getTime() - 2 * hours);
  await query('UPDATE webhook_deliveries SET parked = 1, due_at = ?, created_at = ?', [since, since]);
  await forgetRedis();
  await sweepOften();
  const deliveries = await deliveriesOf(webhook.id);
  expect(deliveries.every(({ parked }) => !parked)).toBe(true);
  expect((await deliveriesInJobs()).toSorted()).toEqual(deliveries.map(({ id }) => id).toSorted());
  // Deliveries that are parked again are due at their old time, so they keep their place.
  await updateParked(
    deliveryTable,
    deliveries.map(({ id }) => id),
    now(),
  );
  for (const { dueAt, createdAt } of await deliveriesOf(webhook.id)) expect(dueAt).toEqual(createdAt);
});

test('so have texts', async () => {
  const api = await startApi();
  const texts = await Promise.all(Array.from({ length: 20 }, () => sendSms(api, own)));
  await query('UPDATE sms_messages SET parked = 1, due_at = ?', [new Date(now().getTime() - 2 * hours)]);
  await forgetRedis();
  await sweepOften();
  const jobs = await jobsOf('send-sms');
  expect(jobs).toHaveLength(texts.length);
  expect(new Set(jobs.map(({ data }) => data.smsId))).toEqual(new Set(texts.map(({ id }) => id)));
});
