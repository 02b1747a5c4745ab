import { beforeEach, expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { query } from '../../shared/db/client.ts';
import { deliveryTable } from '../../shared/db/webhooks/deliveries/deliveries.system.ts';
import { listDueOf, listOwnersWaiting } from '../../shared/db/work/admission.system.ts';
import * as relay from '../../shared/domain/events/relay.ts';
import * as recovery from '../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { queueOf } from '../../shared/queue/queue.ts';
import {
  alterWebhook,
  countsOf,
  deliveriesInJobs,
  forgetDeliveries,
  makeWebhook,
  nowhere,
  storeEvents,
} from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { numbers } from '../support/database/copied-rows.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { rowsRead } from '../support/database/rows-read.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeEach(async () => {
  await forgetDeliveries();
  own = await workspace();
});

const backlog = 50_000;

/** Inserts very many deliveries in one statement, each due a second before the previous one. */
async function insertPending(webhookId: string, count: number, parked: 0 | 1, dueAt: Date): Promise<void> {
  await query(
    `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, event_type, status, due_at, parked, created_at)
     SELECT UNHEX(LEFT(SHA2(CONCAT('d', n), 256), 32)), ?, ?, UNHEX(LEFT(SHA2(CONCAT('e', n), 256), 32)), 'email.sent', 'pending',
       ? - INTERVAL n SECOND, ?, ? FROM ${numbers(count)}`,
    [idToBytes(own.workspaceId), idToBytes(webhookId), dueAt, parked, now()],
  );
  await query('ANALYZE TABLE webhook_deliveries');
}

async function deadWebhook(): Promise<string> {
  const { id } = await makeWebhook(own, nowhere, ['email.sent']);
  await alterWebhook(id, { failing_since: new Date(now().getTime() - 3_600_000), consecutive_failures: 99 });
  await insertPending(id, backlog, 1, now());
  return id;
}

test('one step along an index finds each webhook that has something waiting, however much it is', async () => {
  await deadWebhook();
  for (let index = 0; index < 20; index += 1) await makeWebhook(own, nowhere);
  await storeEvents(own, 3);
  await relay.relayAll();
  await query('UPDATE webhook_deliveries SET parked = 1 WHERE event_type = ?', ['email.queued']);
  expect(await listOwnersWaiting(deliveryTable, 'default', true, null, 500)).toHaveLength(21);
  expect(await rowsRead(() => listOwnersWaiting(deliveryTable, 'default', true, null, 500))).toBeLessThan(
    200,
  );
  const plan = await query(
    `EXPLAIN FORMAT=TRADITIONAL SELECT webhook_id, MIN(due_at) AS due FROM webhook_deliveries FORCE INDEX (webhook_deliveries_admission)
     WHERE status = 'pending' AND parked = 1 AND webhook_id > X''
     GROUP BY status, parked, webhook_id ORDER BY status, parked, webhook_id LIMIT 500`,
  );
  expect(plan).toHaveLength(1);
  expect(plan[0]).toMatchObject({ key: 'webhook_deliveries_admission' });
  expect(plan[0]!['Extra']).toContain('Using index for group-by');
  expect(plan[0]!['Extra']).not.toMatch(/filesort|temporary/);
});

test('the due deliveries of a webhook are read in order from an index, and no more of them than are wanted', async () => {
  const id = await deadWebhook();
  const plan = await query(
    `EXPLAIN FORMAT=TRADITIONAL SELECT id, due_at FROM webhook_deliveries FORCE INDEX (webhook_deliveries_admission)
     WHERE status = 'pending' AND parked = 1 AND webhook_id = ? AND due_at <= ? ORDER BY due_at LIMIT 10`,
    [idToBytes(id), now()],
  );
  expect(plan[0]).toMatchObject({ key: 'webhook_deliveries_admission' });
  expect(plan[0]!['Extra'] ?? '').not.toMatch(/filesort|temporary/);
  const due = await listDueOf(deliveryTable, 'default', true, [{ ownerId: id, dueBefore: now(), limit: 10 }]);
  expect(due.map(({ dueAt }) => dueAt.getTime())).toEqual(
    due.map(({ dueAt }) => dueAt.getTime()).toSorted((a, b) => a - b),
  );
  expect(
    await rowsRead(() =>
      listDueOf(deliveryTable, 'default', true, [{ ownerId: id, dueBefore: now(), limit: 10 }]),
    ),
  ).toBeLessThan(100);
});

test('50,000 deliveries that wait for a dead webhook cost Redis a few jobs, and the others nothing', async () => {
  const dead = await deadWebhook();
  const { id: healthy } = await makeWebhook(own, nowhere);
  await storeEvents(own, 40);
  await relay.relayAll();
  await query('UPDATE webhook_deliveries SET parked = 1 WHERE webhook_id = ?', [idToBytes(healthy)]);
  await forgetRedis();
  const read = await rowsRead(() => recovery.sweep());
  expect(await countsOf(dead)).toMatchObject({ inRedis: 10, parked: backlog - 10 });
  expect(await countsOf(healthy)).toMatchObject({ inRedis: 40, parked: 0 });
  expect(await deliveriesInJobs(['deliver-webhook-retry'])).toHaveLength(50);
  expect(read).toBeLessThan(1_000);
});

test('lost jobs of one webhook do not stand before those of another', async () => {
  const { id: busy } = await makeWebhook(own, nowhere, ['email.sent']);
  const others = await Promise.all(Array.from({ length: 5 }, () => makeWebhook(own, nowhere)));
  await storeEvents(own, 3);
  await relay.relayAll();
  const dueAt = new Date(now().getTime() - 30_000);
  await query('UPDATE webhook_deliveries SET due_at = ?', [dueAt]);
  await insertPending(busy, 8_000, 0, dueAt);
  await forgetRedis();
  await recovery.sweep();
  const jobs = await queueOf('deliver-webhook').getJobs(['waiting'], 0, -1);
  const ofWebhook = Map.groupBy(jobs, ({ data }) => data.webhookId as string);
  for (const { id } of others) expect(ofWebhook.get(id)).toHaveLength(3);
  expect(ofWebhook.get(busy)!.length).toBeGreaterThanOrEqual(500);
  expect(ofWebhook.get(busy)!.length).toBeLessThanOrEqual(5_000);
});
