import { beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { runWithRequest } from '../../../shared/common/request-context.ts';
import { query } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { wake } from '../../../shared/domain/webhooks/deliveries/lanes.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { deliverWebhook } from '../../../shared/jobs/deliver-webhook.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import {
  alterWebhook,
  countsOf,
  deliveriesInJobs,
  deliveriesOf,
  forgetDeliveries,
  makeWebhook,
  nowhere,
  storeEvents,
} from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  await forgetDeliveries();
  own = await workspace();
});

const jobsOf = (webhookId: string) =>
  queueOf(deliverWebhook.lanes.first)
    .getJobs(['waiting'])
    .then((jobs) => jobs.filter(({ data }) => data.webhookId === webhookId));

test('deliveries of a webhook that are due now share jobs, ten in each; another webhook has its own', async () => {
  const receivers = await Promise.all([startWebhookReceiver(), startWebhookReceiver()]);
  const [many, few] = await Promise.all([
    makeWebhook(own, receivers[0].url),
    makeWebhook(own, receivers[1].url),
  ]);
  await storeEvents(own, 23);
  await relay.relayAll();
  for (const { id } of [many, few]) {
    const sizes = (await jobsOf(id)).map(({ data }) => 1 + (data.others?.length ?? 0));
    expect(sizes.toSorted((a, b) => b - a)).toEqual([10, 10, 3]);
  }
  expect(new Set(await deliveriesInJobs()).size).toBe(46);
  const workers = await runWorkers(['deliver-webhook']);
  for (const { id } of [many, few])
    await waitFor('all are delivered', async () => (await countsOf(id)).delivered === 23);
  await workers.stop();
  for (const { requests } of receivers)
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(requests.length);
});

test('each of those that share a job is made as part of its own request', async () => {
  const receiver = await startWebhookReceiver();
  const { id } = await makeWebhook(own, receiver.url);
  for (const request of ['first', 'second', 'third'])
    await runWithRequest({ requestId: request }, () => acceptEmail(own));
  await relay.relayAll();
  const [job, ...more] = await jobsOf(id);
  expect(more).toEqual([]);
  expect(job!.data.requestId).toBe('first');
  const deliveries = new Map((await deliveriesOf(id)).map((delivery) => [delivery.id, delivery.requestId]));
  for (const other of job!.data.others) expect(other.requestId).toBe(deliveries.get(other.deliveryId));
  // Each delivery that fails by a fault of the platform logs its own request id.
  await alterWebhook(id, { secret: Buffer.from('gone:nothing') });
  const worker = await startWorkerProcess(['deliver-webhook']);
  const faults = () =>
    worker
      .output()
      .split('\n')
      .filter((line) => line.includes('a delivery cannot be made by a fault'))
      .map((line) => JSON.parse(line) as { deliveryId: string; requestId: string });
  await waitFor('all have met it', () => faults().length === 3);
  await worker.stop();
  expect(new Map(faults().map((fault) => [fault.deliveryId, fault.requestId]))).toEqual(deliveries);
});

test('a turn that meets an outage is taken again, and all of it is delivered once', async () => {
  const receiver = await startWebhookReceiver();
  const { id } = await makeWebhook(own, receiver.url);
  await storeEvents(own, 7);
  await relay.relayAll();
  await query('RENAME TABLE webhook_deliveries TO webhook_deliveries_away');
  const workers = await runWorkers(['deliver-webhook']);
  await waitFor('it waits for its next try', () => queueOf(deliverWebhook.lanes.first).getDelayedCount());
  await query('RENAME TABLE webhook_deliveries_away TO webhook_deliveries');
  await waitFor('all are delivered', async () => (await countsOf(id)).delivered === 7);
  await workers.stop();
  expect(receiver.requests).toHaveLength(7);
});

test('two who let in the same ones in other shares leave none without a job, and the same shares are one job', async () => {
  const { id: webhookId } = await makeWebhook(own, nowhere);
  await storeEvents(own, 4);
  await relay.relayAll();
  await forgetRedis();
  const turns = (await deliveriesOf(webhookId)).map(({ id }) => ({
    id,
    ownerId: webhookId,
    claims: 1,
    requestId: null,
    dueAt: now(),
  }));
  const [first, second, third, fourth] = turns;
  for (const shares of [
    [first!, second!],
    [first!, third!, fourth!],
    [first!, second!],
  ])
    expect(await wake(shares)).toEqual([]);
  const ids = [first!, second!, first!, third!, fourth!].map(({ id }) => id);
  expect((await deliveriesInJobs()).toSorted()).toEqual(ids.toSorted());
});

test('what waits in a job with others is not taken for lost, until it is not trusted any more or Redis was flushed', async () => {
  const { id } = await makeWebhook(own, nowhere);
  await storeEvents(own, 40);
  await relay.relayAll();
  const sweepOften = async () => {
    for (let run = 0; run < 4; run += 1) {
      await recovery.sweep();
      await advanceClock(4_000);
    }
    return [(await deliveriesInJobs()).length, (await jobsOf(id)).length];
  };
  expect(await sweepOften()).toEqual([40, 4]);
  // The minute in which a job is trusted is over; the next two minutes are far off, even on a slow machine.
  await advanceClock(50_000);
  expect(await sweepOften()).toEqual([80, 44]);
  await forgetRedis();
  await query('UPDATE webhook_deliveries SET due_at = ? WHERE webhook_id = ?', [
    new Date(now().getTime() - 30_000),
    idToBytes(id),
  ]);
  expect(await sweepOften()).toEqual([40, 40]);
});

test('what the queue has come past is made again', async () => {
  const { id: lost } = await makeWebhook(own, nowhere, ['email.queued']);
  await storeEvents(own, 5);
  await relay.relayAll();
  await forgetRedis();
  await advanceClock(6_000);
  const { id: later } = await makeWebhook(own, nowhere, ['email.queued']);
  await storeEvents(own, 1);
  await relay.relayAll();
  await recovery.sweep();
  const made = new Set(await deliveriesInJobs());
  for (const delivery of await deliveriesOf(lost)) expect(made.has(delivery.id)).toBe(true);
  expect(await jobsOf(later)).toHaveLength(1);
});
