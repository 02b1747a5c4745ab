// @slow: it starts, stops and breaks processes of the platform.
import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { countsOf, makeWebhook, storeEvents } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { sized } from '../long-form.ts';

useDatabase();

const webhookCount = 4;
const events = sized(150, 5_000);
const inFlightPerWebhook = 20;
const leaseMs = config.LEASE_SECONDS * 1000;
/** The share of all deliveries that has arrived when a worker is killed or Redis is emptied. */
const faults = sized(
  [
    { at: 0.2, kind: 'kill' },
    { at: 0.4, kind: 'flush' },
    { at: 0.6, kind: 'kill' },
  ] as const,
  [
    { at: 0.15, kind: 'kill' },
    { at: 0.35, kind: 'flush' },
    { at: 0.5, kind: 'kill' },
    { at: 0.65, kind: 'flush' },
    { at: 0.8, kind: 'kill' },
  ] as const,
);
const kills = faults.filter(({ kind }) => kind === 'kill').length;

// Shows F32
test('workers killed and Redis emptied amid deliveries: every webhook gets every event, and a second copy is the same', async () => {
  const [customer, receiver] = await Promise.all([workspace(), startWebhookReceiver()]);
  const webhooks = await Promise.all(
    Array.from({ length: webhookCount }, (_, index) => makeWebhook(customer, `${receiver.url}/${index}`)),
  );
  changeSettings({ WEBHOOK_IN_FLIGHT_PER_WEBHOOK: inFlightPerWebhook });
  // This process runs a worker that survives; the victims are killed one after the other.
  const victims = await Promise.all(Array.from({ length: kills }, () => startWorkerProcess()));
  const workers = await runWorkers();
  const eventIds = await storeEvents(customer, events);

  let lastKill = now();
  for (const { at, kind } of faults) {
    await receiver.waitFor(Math.round(at * events * webhookCount), { timeoutMs: 300_000 });
    if (kind === 'flush') await forgetRedis();
    else {
      await victims.pop()!.kill();
      lastKill = now();
    }
  }

  // The live workers soon finish the deliveries that they claimed before the last kill; the dead worker's ones stay.
  await waitFor(
    'only what was taken before the last kill is left',
    async () => {
      const rows = await query(
        "SELECT id FROM webhook_deliveries WHERE status = 'pending' AND (lease_token IS NULL OR due_at > ?)",
        [new Date(lastKill.getTime() + leaseMs)],
      );
      return rows.length === 0;
    },
    { timeoutMs: 300_000 },
  );
  await advanceClock(leaseMs + 3_000);
  const delivered = async () => {
    const counts = await Promise.all(webhooks.map(({ id }) => countsOf(id)));
    return counts.every((count) => count.delivered === events);
  };
  await waitFor('every delivery to count as delivered', delivered, { timeoutMs: 300_000, intervalMs: 250 });
  await workers.stop();

  const idOf = ({ body }: { body: Buffer }) => (JSON.parse(body.toString()) as { id: string }).id;
  for (const index of webhooks.keys()) {
    const requests = receiver.requests.filter(({ url }) => url === `/${index}`);
    expect(new Set(requests.map(idOf))).toEqual(new Set(eventIds));
    for (const copies of Map.groupBy(requests, ({ headers }) => headers['webhook-id']!).values())
      for (const copy of copies) expect(copy.body.equals(copies[0]!.body)).toBe(true);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toHaveLength(events);
  }
  const duplicates = receiver.requests.length - events * webhookCount;
  process.stdout.write(`${events * webhookCount} deliveries, ${kills} kills: ${duplicates} came twice\n`);
  expect(duplicates).toBeLessThanOrEqual(kills * inFlightPerWebhook * webhookCount);
}, 900_000);
