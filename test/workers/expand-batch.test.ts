// @slow: it makes batches of thousands of messages.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { query } from '../../shared/db/client.ts';
import * as balance from '../../shared/domain/sms/balance.ts';
import * as prices from '../../shared/domain/sms/prices.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { batchOf, messagesTo, newBatch, statusesOf } from '../support/data/new-batch.ts';
import { textingWorkspace } from '../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { advanceClock } from '../support/time/advance-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 0 });
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  // Batches that one test leaves unfinished would go on during the next test.
  for (const table of ['sms_batches', 'sms_batch_rows', 'sms_messages'])
    await query(`TRUNCATE TABLE ${table}`);
  await forgetRedis();
  own = await textingWorkspace();
});

const shown = (id: string) => batchOf(api, own, id);

test('a batch of 700 goes out by itself, in chunks, and completes', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(700) });
  const workers = await runWorkers();
  await waitFor('it is completed', async () => (await shown(id)).status === 'completed', {
    timeoutMs: 200_000,
  });
  await workers.stop();
  expect(await statusesOf(id)).toEqual({ delivered: 700 });
  expect((await shown(id)).counts).toMatchObject({ total: 700, waiting: 0, delivered: 700 });
});

test('a paused batch goes on at once after a credit', async () => {
  await balance.add(own.workspaceId, 1, null);
  const { id } = await newBatch(api, own, { messages: messagesTo(3) });
  const workers = await runWorkers();
  await waitFor('it is paused', async () => (await shown(id)).status === 'paused');
  // The batch is not due again while this test runs, so only the credit can wake it.
  await query('UPDATE sms_batches SET due_at = due_at + INTERVAL 1 DAY');
  await balance.add(own.workspaceId, 900, null);
  await waitFor('all are sent', async () => (await shown(id)).counts.waiting === 0);
  await workers.stop();
});

test('a scheduled batch whose job is lost begins in its time, by the sweep', async () => {
  const { id } = await newBatch(api, own, {
    messages: messagesTo(3),
    scheduledAt: new Date(now().getTime() + 360_000).toISOString(),
  });
  await forgetRedis();
  const workers = await runWorkers();
  await advanceClock(365_000);
  await waitFor('all are sent', async () => (await shown(id)).counts.waiting === 0);
  await workers.stop();
});

test('rows that kill worker after worker are taken one by one, and the one to blame is given up', async () => {
  const { id } = await newBatch(api, own, { messages: messagesTo(3) });
  // The batch has begun, so the first step works on a row. A worker whose turn only begins a batch gives it back, and
  // so cannot have died of a row.
  await query('UPDATE sms_batches SET claims = 10, started_at = UTC_TIMESTAMP(3)');
  const workers = await runWorkers(['expand-batch', 'sweep']);
  await waitFor('all are messages', async () => (await shown(id)).counts.waiting === 0);
  await workers.stop();
  expect(await statusesOf(id)).toEqual({ queued: 2, failed: 1 });
});

test('the batches of a workspace that has many do not stand before the one of another', async () => {
  const many = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      newBatch(api, own, { messages: messagesTo(1_000, index * 1_000), content: 'Dear {{ name }}' }),
    ),
  );
  const other = await textingWorkspace();
  const { id } = await newBatch(api, other, { messages: messagesTo(500) });
  const workers = await runWorkers(['expand-batch']);
  await waitFor('the one is made', async () => (await batchOf(api, other, id)).counts.waiting === 0);
  const waiting = await Promise.all(many.map(async (batch) => (await shown(batch.id)).counts.waiting));
  await workers.stop();
  expect(waiting.filter((rows) => rows > 0).length).toBeGreaterThan(6);
});
