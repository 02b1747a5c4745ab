import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { deliveriesOf, dueDelivery, makeWebhook, storeEvents } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock, advanceClockTo, clockToleranceMs } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

type Due = Awaited<ReturnType<typeof dueDelivery>>;
/** Makes a delivery of a webhook that is never switched off, however long it fails. */
const dueForEver = (url: string) => dueDelivery(own, url, {}, { autoDisableExempt: true });

/** Makes one attempt; returns how many seconds after its end the next one is due, or null if none follows. */
async function attemptAndWait({ id, read }: Due): Promise<number | null> {
  const before = now().getTime();
  expect(await attempt(id)).not.toBe('dropped');
  const after = now().getTime();
  const { dueAt } = await read();
  if (!dueAt) return null;
  const seconds = Math.round((dueAt.getTime() - after) / 1000);
  expect(dueAt.getTime()).toBeGreaterThanOrEqual(before + seconds * 1000 - clockToleranceMs);
  expect(dueAt.getTime()).toBeLessThanOrEqual(after + seconds * 1000 + clockToleranceMs);
  // No worker can claim the delivery before it is due.
  expect(await attempt(id)).toBe('dropped');
  await advanceClockTo(dueAt);
  return seconds;
}

async function waitsUntilTheEnd(delivery: Due): Promise<number[]> {
  const waits: number[] = [];
  for (;;) {
    const wait = await attemptAndWait(delivery);
    if (wait === null) return waits;
    waits.push(wait);
  }
}

// Shows F31
test('after a failure it is tried again after 5, 15 minutes, 1, 4, 8, 12 hours, and then has failed', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 503, body: 'busy' } });
  const delivery = await dueForEver(receiver.url);
  expect(await waitsUntilTheEnd(delivery)).toEqual([300, 900, 3600, 14_400, 28_800, 43_200]);
  expect(receiver.requests).toHaveLength(7);
  const end = await delivery.read();
  expect(end).toMatchObject({
    status: 'failed',
    attempts: 7,
    dueAt: null,
    responseStatus: 503,
    responseBody: 'busy',
    error: 'http_status',
  });
  expect(end.completedAt!.getTime()).toBeGreaterThanOrEqual(end.attemptedAt!.getTime());
  expect(await attempt(delivery.id)).toBe('dropped');
  expect(receiver.requests).toHaveLength(7);
});

test('the wait runs from the end of an attempt, not from its start', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 500, delayMs: 1500 } });
  const delivery = await dueDelivery(own, receiver.url);
  await attempt(delivery.id);
  const { attemptedAt, dueAt, durationMs } = await delivery.read();
  expect(durationMs).toBeGreaterThanOrEqual(1490);
  expect(dueAt!.getTime() - attemptedAt!.getTime()).toBeGreaterThanOrEqual(300_000 + 1500 - clockToleranceMs);
});

test('an attempt that is made late waits its full time for the next', async () => {
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const delivery = await dueDelivery(own, receiver.url);
  await attemptAndWait(delivery);
  await advanceClock(3 * 3_600_000);
  expect(await attemptAndWait(delivery)).toBe(900);
});

test('any 2xx ends it as delivered', async () => {
  for (const status of [200, 201, 202, 204, 299]) {
    const receiver = await startWebhookReceiver({ respond: { status } });
    const delivery = await dueDelivery(own, receiver.url);
    expect(await attempt(delivery.id)).toBe('done');
    const stored = await delivery.read();
    expect(stored).toMatchObject({
      status: 'delivered',
      attempts: 1,
      dueAt: null,
      responseStatus: status,
      error: null,
    });
    expect(stored.completedAt).not.toBeNull();
  }
});

test('a success after failures is delivered, and recorded instead of them', async () => {
  const receiver = await startWebhookReceiver({
    respond: (_request, index) => ({ status: index < 3 ? 500 : 200 }),
  });
  const delivery = await dueDelivery(own, receiver.url);
  expect(await waitsUntilTheEnd(delivery)).toEqual([300, 900, 3600]);
  expect(await delivery.read()).toMatchObject({
    status: 'delivered',
    attempts: 4,
    error: null,
    responseStatus: 200,
  });
});

test.each([
  ['seconds', '120', 120],
  ['a fraction', '1.5', 2],
  ['nothing', undefined, 60],
  ['less than a second', '0', 1],
  ['a time in the past', 'Wed, 01 Jan 2020 00:00:00 GMT', 1],
  ['more than a day', '999999', 86_400],
  ['nonsense', 'soon', 60],
])('a 429 waits for Retry-After: %s', async (_what, retryAfter, seconds) => {
  const receiver = await startWebhookReceiver({ respond: answers.tooManyRequests(retryAfter) });
  const delivery = await dueDelivery(own, receiver.url);
  expect(await attemptAndWait(delivery)).toBe(seconds);
});

test('a 429 waits until the date that Retry-After names', async () => {
  const until = new Date(Math.ceil(now().getTime() / 1000) * 1000 + 7_200_000);
  const receiver = await startWebhookReceiver({ respond: answers.tooManyRequests(until.toUTCString()) });
  const { id, read } = await dueDelivery(own, receiver.url);
  await attempt(id);
  expect(Math.abs((await read()).dueAt!.getTime() - until.getTime())).toBeLessThanOrEqual(
    1000 + clockToleranceMs,
  );
});

// Shows F31
test('a 429 is no failure: the schedule goes on from where it was, with all its attempts', async () => {
  const busy = new Set([0, 2, 3, 5]);
  const receiver = await startWebhookReceiver({
    respond: (_request, index) => (busy.has(index) ? answers.tooManyRequests('30') : { status: 500 }),
  });
  const delivery = await dueForEver(receiver.url);
  expect(await waitsUntilTheEnd(delivery)).toEqual([30, 300, 30, 30, 900, 30, 3600, 14_400, 28_800, 43_200]);
  expect((await delivery.read()).status).toBe('failed');
});

test('what is told to wait and wait has failed 7 days after its event', async () => {
  const receiver = await startWebhookReceiver({ respond: answers.tooManyRequests('86400') });
  const delivery = await dueDelivery(own, receiver.url);
  const waits = await waitsUntilTheEnd(delivery);
  expect(waits.every((wait) => wait === 86_400)).toBe(true);
  expect([6, 7]).toContain(waits.length);
  expect(await delivery.read()).toMatchObject({ status: 'failed', dueAt: null, responseStatus: 429 });
});

test('a delivery that another worker holds is not posted twice, and is taken over when the lease ends', async () => {
  const receiver = await startWebhookReceiver();
  const { id, read } = await dueDelivery(own, receiver.url);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => attempt(id)));
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
  expect(receiver.requests).toHaveLength(1);

  const other = await dueDelivery(own, `${receiver.url}/other`);
  const lease = [Buffer.alloc(16, 1), new Date(now().getTime() + 60_000), idToBytes(other.id)];
  await query('UPDATE webhook_deliveries SET lease_token = ?, due_at = ? WHERE id = ?', lease);
  expect(await attempt(other.id)).toBe('dropped');
  await advanceClock(61_000);
  expect(await attempt(other.id)).toBe('done');
  expect((await read()).status).toBe('delivered');
  expect(receiver.requests).toHaveLength(2);
});

test('a worker that comes late with its outcome changes nothing', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const receiver = await startWebhookReceiver({
    respond: async (_request, index) => {
      if (index === 0) await released;
      return { status: index === 0 ? 500 : 200 };
    },
  });
  const { id, read } = await dueDelivery(own, receiver.url);
  const late = attempt(id);
  await receiver.waitFor(1);
  await advanceClock(151_000);
  expect(await attempt(id)).toBe('done');
  const delivered = await read();
  expect(delivered).toMatchObject({ status: 'delivered', attempts: 1, responseStatus: 200 });
  release();
  await late;
  expect(await read()).toEqual(delivered);
});

test('where several 429s come in a row the waits grow, whatever Retry-After says; another answer ends that', async () => {
  const busy = (index: number) => index < 11 || index === 12;
  const receiver = await startWebhookReceiver({
    respond: (_request, index) =>
      busy(index) ? answers.tooManyRequests('Wed, 01 Jan 2020 00:00:00 GMT') : { status: 500 },
  });
  const delivery = await dueForEver(receiver.url);
  const waits = await waitsUntilTheEnd(delivery);
  expect(waits.slice(0, 13)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 1]);
});

test('attempts that were out together when the 429s came count once', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const receiver = await startWebhookReceiver({
    respond: async () => {
      await released;
      return answers.tooManyRequests('1');
    },
  });
  const { id: webhookId } = await makeWebhook(own, receiver.url);
  await storeEvents(own, 5);
  await relay.relayAll();
  const out = Promise.all((await deliveriesOf(webhookId)).map(({ id }) => attempt(id)));
  await receiver.waitFor(5);
  release();
  await out;
  const [row] = await query('SELECT busy_count FROM webhooks WHERE id = ?', [idToBytes(webhookId)]);
  expect(row!['busy_count']).toBe(1);
});
