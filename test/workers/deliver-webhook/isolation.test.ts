import { beforeEach, expect, test } from 'vitest';
import * as relay from '../../../shared/domain/relay.ts';
import { useDatabase } from '../../support/database.ts';
import { countsOf, deliveriesOf, makeWebhook, storeEvents } from '../../support/deliveries.ts';
import { workspace } from '../../support/factory.ts';
import { runWorkers } from '../../support/run-workers.ts';
import { changeSettings } from '../../support/settings.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answers, startWebhookReceiver } from '../../support/webhook-receiver.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  // Longer than any test: what hangs, hangs to its end.
  changeSettings({ WEBHOOK_TIMEOUT_SECONDS: 60 });
  own = await workspace();
});

// Shows F31
test('webhooks that hang delay no other: all of its deliveries arrive while theirs are still out', async () => {
  const hanging = await startWebhookReceiver({ respond: answers.hang });
  const healthy = await startWebhookReceiver();
  for (let index = 0; index < 15; index += 1) await makeWebhook(own, `${hanging.url}/${index}`);
  const { id } = await makeWebhook(own, healthy.url);
  await storeEvents(own, 300);
  await relay.relayAll();
  const workers = await runWorkers(['deliver-webhook']);
  await waitFor('the healthy one has all', async () => (await countsOf(id)).delivered === 300);
  expect(healthy.requests).toHaveLength(300);
  const out = Map.groupBy(hanging.requests, ({ url }) => url);
  expect(out.size).toBe(15);
  for (const requests of out.values()) expect(requests.length).toBeLessThanOrEqual(20);
  // What a stop would wait for.
  hanging.respondWith({ status: 200 });
  await hanging.close();
  await workers.stop();
}, 120_000);

test('what is handed back to wait is not an attempt: nothing was sent, nobody holds it, and it comes again', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const receiver = await startWebhookReceiver({
    respond: async () => {
      await released;
      return {};
    },
  });
  const { id } = await makeWebhook(own, receiver.url);
  await storeEvents(own, 60);
  await relay.relayAll();
  const workers = await runWorkers(['deliver-webhook']);
  await waitFor('40 are handed back', async () => (await countsOf(id)).parked === 40);
  expect(receiver.requests).toHaveLength(20);
  const [handedBack, others] = [true, false].map(async (isParked) =>
    (await deliveriesOf(id)).filter(({ parked }) => parked === isParked),
  );
  for (const delivery of (await handedBack)!)
    expect(delivery).toMatchObject({
      status: 'pending',
      attempts: 0,
      attemptedAt: null,
      error: null,
      isHeld: false,
    });
  for (const delivery of (await others)!) expect(delivery).toMatchObject({ attempts: 0, isHeld: true });

  release();
  const sweeping = await runWorkers(['sweep']);
  await waitFor('all are delivered', async () => (await countsOf(id)).delivered === 60);
  expect((await deliveriesOf(id)).every(({ attempts }) => attempts === 1)).toBe(true);
  expect(receiver.requests).toHaveLength(60);
  await sweeping.stop();
  await workers.stop();
}, 120_000);
