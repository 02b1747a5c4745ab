// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { countsOf, makeWebhook, storeEvents } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const count = 10;

// Shows F32
test('a worker is killed between the answer of the endpoint and the database: one copy more, with the same id and bytes', async () => {
  const [own, receiver, mysql] = await Promise.all([
    workspace(),
    startWebhookReceiver(),
    startTcpProxy(config.MYSQL_URL, 3306),
  ]);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let answered = 0;
  receiver.respondWith(async () => {
    await released;
    answered += 1;
    return { status: 200 };
  });
  const webhook = await makeWebhook(own, receiver.url);
  await storeEvents(own, count);
  await relay.relayAll();
  const worker = await startWorkerProcess(['deliver-webhook', 'sweep'], { MYSQL_URL: mysql.url });
  await receiver.waitFor(count);
  mysql.freeze();
  release();
  await waitFor('all are answered', () => answered === count);
  await worker.kill();
  expect((await countsOf(webhook.id)).delivered).toBe(0);

  await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
  const workers = await runWorkers(['deliver-webhook', 'sweep']);
  await waitFor('all count as delivered', async () => (await countsOf(webhook.id)).delivered === count);
  await workers.stop();
  expect(receiver.requests).toHaveLength(2 * count);
  const copies = Map.groupBy(receiver.requests, ({ headers, body }) => headers['webhook-id']! + body);
  expect([...copies.values()].map((same) => same.length)).toEqual(Array(count).fill(2));
});
