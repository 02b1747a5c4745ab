import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { insertRows, makeHook } from './delivery-rows.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const read = (webhookId: string, rest = '') =>
  api.request('GET', `/v2/webhooks/${webhookId}/deliveries${rest}`, { key: own.key });

test('a delivery that waits for its first attempt says when that is due', async () => {
  const webhookId = await makeHook(own);
  const dueAt = new Date(now().getTime() + 60_000);
  const [made] = await insertRows(own, webhookId, [['email.sent', 'pending']], { due_at: dueAt });
  const [delivery] = (await read(webhookId)).body.data;
  expect(delivery).toStrictEqual({
    id: made!.id,
    eventId: expect.stringMatching(/^event_/),
    eventType: 'email.sent',
    status: 'pending',
    attempts: 0,
    nextAttemptAt: dueAt.toISOString(),
    createdAt: expect.stringMatching(/Z$/),
    completedAt: null,
    latestAttempt: null,
  });
  const one = await read(webhookId, `/${made!.id}`);
  expect(one.body).toStrictEqual({ ...delivery, attemptLog: [] });
});

test('one that a worker has claimed names no next attempt', async () => {
  const webhookId = await makeHook(own);
  await insertRows(own, webhookId, [['email.sent', 'pending']], {
    due_at: now(),
    lease_token: Buffer.alloc(16, 1),
  });
  expect((await read(webhookId)).body.data[0]).toMatchObject({ status: 'pending', nextAttemptAt: null });
});

test('a delivery shows its latest attempt in the list, and all of them by itself, newest first', async () => {
  const webhookId = await makeHook(own);
  const attemptedAt = now();
  const [made] = await insertRows(own, webhookId, [['email.sent', 'failed']], {
    attempts: 3,
    completed_at: attemptedAt,
    attempted_at: attemptedAt,
    duration_ms: 12,
    response_status: 500,
    response_body: 'brökén',
    error: 'http_status',
  });
  const earlier = (number: number) => new Date(attemptedAt.getTime() - (3 - number) * 60_000);
  for (const number of [1, 2])
    await query('INSERT INTO webhook_attempts SET ?', [
      {
        delivery_id: idToBytes(made!.id),
        number,
        workspace_id: idToBytes(own.workspaceId),
        attempted_at: earlier(number),
        duration_ms: number,
        error: 'timeout',
      },
    ]);
  const latest = {
    attemptedAt: attemptedAt.toISOString(),
    durationMs: 12,
    responseStatus: 500,
    responseBody: 'brökén',
    error: 'http_status',
  };
  const [listed] = (await read(webhookId)).body.data;
  expect(listed).toMatchObject({ status: 'failed', attempts: 3, nextAttemptAt: null, latestAttempt: latest });
  expect(listed.completedAt).toBe(attemptedAt.toISOString());
  const { body } = await read(webhookId, `/${made!.id}`);
  expect(body).toStrictEqual({
    ...listed,
    attemptLog: [
      { number: 3, ...latest },
      ...[2, 1].map((number) => ({
        number,
        attemptedAt: earlier(number).toISOString(),
        durationMs: number,
        responseStatus: null,
        responseBody: null,
        error: 'timeout',
      })),
    ],
  });
});

test('of very many attempts the newest hundred are shown', async () => {
  const webhookId = await makeHook(own);
  const attempted = { attempted_at: now(), duration_ms: 1 };
  const [made] = await insertRows(own, webhookId, [['email.sent', 'pending']], {
    attempts: 301,
    ...attempted,
  });
  await query(
    'INSERT INTO webhook_attempts (delivery_id, number, workspace_id, attempted_at, duration_ms) VALUES ?',
    [
      Array.from({ length: 300 }, (_, index) => [
        idToBytes(made!.id),
        index + 1,
        idToBytes(own.workspaceId),
        now(),
        1,
      ]),
    ],
  );
  const { body } = await read(webhookId, `/${made!.id}`);
  const numbers = body.attemptLog.map(({ number }: { number: number }) => number);
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, index) => 301 - index));
});

test('another workspace’s webhook and delivery, and the delivery of another webhook, are not there', async () => {
  const other = await workspace();
  const webhookId = await makeHook(own);
  const another = await makeHook(own);
  const foreign = await makeHook(other);
  const [made] = await insertRows(own, webhookId, [['email.sent', 'pending']]);
  const [theirs] = await insertRows(other, foreign, [['email.sent', 'pending']]);
  for (const [path, key] of [
    [webhookId, other.key],
    [`${webhookId}/deliveries/${made!.id}`, other.key],
    [`${foreign}/deliveries/${made!.id}`, other.key],
    [`${another}/deliveries/${made!.id}`, own.key],
    [`${webhookId}/deliveries/${theirs!.id}`, own.key],
    [`${foreign}/deliveries/${theirs!.id}`, own.key],
    [`${webhookId}/deliveries/${newId('delivery', now())}`, own.key],
    [`${webhookId}/deliveries/delivery_x`, own.key],
  ] as const) {
    const whole = path.includes('/') ? path : `${path}/deliveries`;
    expect([whole, (await api.request('GET', `/v2/webhooks/${whole}`, { key })).status]).toEqual([
      whole,
      404,
    ]);
  }
});
