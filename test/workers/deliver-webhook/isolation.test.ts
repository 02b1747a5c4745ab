// @slow: thousands of deliveries of many workspaces go out.
import { beforeEach, expect, test } from 'vitest';
import { transaction } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { sendTest } from '../../../shared/domain/webhooks/send-test.ts';
import { startApi } from '../../support/api/start-api.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import {
  alterWebhook,
  countsOf,
  deliveriesOf,
  makeWebhook,
  storeEvents,
} from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  // Longer than any test, so a request that hangs does so until the test ends.
  changeSettings({ WEBHOOK_TIMEOUT_SECONDS: 60 });
  own = await workspace();
});

// Shows F31
test('webhooks that hang delay no other: all of its deliveries arrive while theirs are still out', async () => {
  // Each webhook has its own origin, as the webhooks of many customers would.
  const hanging = await Promise.all(
    Array.from({ length: 15 }, () => startWebhookReceiver({ respond: answers.hang })),
  );
  const healthy = await startWebhookReceiver();
  for (const { url } of hanging) await makeWebhook(own, url);
  const { id } = await makeWebhook(own, healthy.url);
  await storeEvents(own, 100);
  await relay.relayAll();
  // On a stalled machine the process counts its own delay as the endpoint's and hands back, so the sweep runs too.
  const workers = await runWorkers(['deliver-webhook', 'sweep']);
  await waitFor('the healthy one has all', async () => (await countsOf(id)).delivered === 100);
  expect(healthy.requests).toHaveLength(100);
  for (const { requests } of hanging) {
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThanOrEqual(20);
  }
  // A stop would wait for the hanging requests.
  for (const receiver of hanging) {
    receiver.respondWith({ status: 200 });
    await receiver.close();
  }
  await workers.stop();
});

// Shows F31
test('hosts of eight workspaces that hang, sixty of each, delay no other workspace', async () => {
  const hanging = await Promise.all(
    Array.from({ length: 8 }, () => startWebhookReceiver({ respond: answers.hang })),
  );
  const healthy = await startWebhookReceiver();
  for (const { port } of hanging) {
    const hostile = await workspace();
    const urls = Array.from({ length: 60 }, (_, index) => `http://host-${index}.localhost:${port}/`);
    await Promise.all(urls.map((url) => makeWebhook(hostile, url)));
    // More jobs in all than a process takes at a time.
    await storeEvents(hostile, 2);
  }
  await relay.relayAll();
  const workers = await runWorkers(['deliver-webhook', 'sweep']);
  await waitFor('some hang', () => hanging.some(({ requests }) => requests.length > 0));
  const { id } = await makeWebhook(own, healthy.url);
  await storeEvents(own, 20);
  await relay.relayAll();
  // The requests that hang do so for longer than this.
  await waitFor('the honest one has all', async () => (await countsOf(id)).delivered === 20, {
    timeoutMs: 30_000,
  });
  expect(healthy.requests).toHaveLength(20);
  // A stop would wait for the hanging requests.
  for (const receiver of hanging) {
    receiver.respondWith({ status: 200 });
    await receiver.close();
  }
  await workers.stop();
});

// Shows F31
test('a hundred webhooks at one origin have no more requests out there than one has, and all arrive', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const [shared, elsewhere] = [await startWebhookReceiver(), await startWebhookReceiver()];
  let [out, most, ofOther] = [0, 0, 0];
  shared.respondWith(async ({ url }) => {
    if (url === '/other') ofOther += 1;
    else {
      out += 1;
      most = Math.max(most, out);
    }
    await released;
    if (url !== '/other') out -= 1;
    return {};
  });
  const other = await workspace();
  const hooks = [await makeWebhook(own, elsewhere.url), await makeWebhook(other, `${shared.url}/other`)];
  for (let index = 0; index < 99; index += 1) hooks.push(await makeWebhook(own, `${shared.url}/${index}`));
  await storeEvents(own, 3);
  await storeEvents(other, 1);
  await relay.relayAll();
  const workers = await runWorkers(['deliver-webhook', 'sweep']);
  // The hanging requests hold up neither the workspace's other endpoint nor the other workspace.
  await waitFor('as many are out as may be', () => out === 20 && ofOther === 1);
  await waitFor('the other endpoint has its own', () => elsewhere.requests.length === 3);
  release();
  await waitFor('all are delivered', async () => {
    const counts = await Promise.all(hooks.map(({ id }) => countsOf(id)));
    return counts.reduce((sum, { delivered }) => sum + delivered, 0) === 100 * 3 + 1;
  });
  expect(most).toBe(20);
  expect(shared.requests).toHaveLength(99 * 3 + 1);
  await workers.stop();
});

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
  // At most twenty are out at once; on a busy machine fewer, as some that had a slot did not begin in time.
  const out = await waitFor('all but those that are out are handed back', async () => {
    const { parked, inRedis } = await countsOf(id);
    return parked >= 40 && inRedis === receiver.requests.length ? inRedis : 0;
  });
  expect(out).toBeLessThanOrEqual(20);
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
});

test('a test goes out to a webhook that is switched off, though nothing is answered there', async () => {
  const isTest = ({ body }: { body: Buffer }) => JSON.parse(body.toString()).type === 'webhook.test';
  const receiver = await startWebhookReceiver({
    respond: (request) => (isTest(request) ? {} : answers.hang),
  });
  const { id } = await makeWebhook(own, receiver.url);
  await storeEvents(own, 60);
  await relay.relayAll();
  const workers = await runWorkers(['deliver-webhook', 'settle-webhook', 'sweep']);
  await waitFor('what has no slot is handed back', async () => (await countsOf(id)).parked >= 40);
  await alterWebhook(id, { active: 0, auto_disabled: 1 });
  await transaction(() => sendTest(callerOf(own), id, '2026-11-01'));
  await relay.relayAll();
  const ended = await waitFor('the test is over', async () =>
    (await deliveriesOf(id)).find(
      ({ eventType, status }) => eventType === 'webhook.test' && status !== 'pending',
    ),
  );
  expect(ended).toMatchObject({ status: 'delivered', attempts: 1 });
  expect(receiver.requests.filter(isTest)).toHaveLength(1);
  // A stop would wait for the hanging requests.
  await receiver.close();
  await workers.stop();
});

test('tests of many webhooks that hang delay no first attempt of another workspace, and one more is refused', async () => {
  const [hanging, healthy] = [
    await startWebhookReceiver({ respond: answers.hang }),
    await startWebhookReceiver(),
  ];
  const api = await startApi();
  const hooks = await Promise.all(
    Array.from({ length: 100 }, (_, index) => makeWebhook(own, `${hanging.url}/${index}`)),
  );
  const statuses: number[] = [];
  // Each round has jobs of its own: more in all than a process takes at once.
  for (let round = 0; round < 4; round += 1) {
    for (const { id } of hooks)
      statuses.push((await api.request('POST', `/v2/webhooks/${id}/test`, { key: own.key })).status);
    await relay.relayAll();
  }
  const accepted = statuses.filter((status) => status === 200).length;
  const workers = await runWorkers(['deliver-webhook']);
  await hanging.waitFor(Math.min(accepted, 300));
  const other = await workspace();
  const { id } = await makeWebhook(other, healthy.url);
  await storeEvents(other, 1);
  await relay.relayAll();
  // The tests that are out hang for longer than this.
  await healthy.waitFor(1, { timeoutMs: 20_000 });
  await waitFor('the first attempt is stored', async () => (await countsOf(id)).delivered === 1);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  await hanging.close();
  await workers.stop();
});
