import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { listDeliveries } from '../../../shared/db/webhooks/deliveries/deliveries.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';
import { insertRows, type Kind, makeHook } from './delivery-rows.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const hook = () => makeHook(own);
const make = (webhookId: string, kinds: Kind[]) => insertRows(own, webhookId, kinds);
const read = (webhookId: string, rest = '', key = own.key) =>
  api.request('GET', `/v2/webhooks/${webhookId}/deliveries${rest}`, { key });
const idsOf = (body: any): string[] => body.data.map(({ id }: { id: string }) => id);

async function readAll(webhookId: string, search: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await read(webhookId, `?${search}${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    ids.push(...idsOf(body));
    cursor = body.nextCursor;
  }
  return ids;
}

test('a webhook without deliveries has an empty page', async () => {
  const { status, body } = await read(await hook());
  expect(status).toBe(200);
  expect(body).toStrictEqual({ data: [], nextCursor: null });
});

const types = ['email.sent', 'email.bounced', 'webhook.test'];
const statuses = ['pending', 'delivered', 'failed', 'skipped'];
const mixed = Array.from({ length: 47 }, (_, index): Kind => [types[index % 3]!, statuses[(index * 7) % 4]!]);

test('deliveries are listed newest first, page by page, each once, by status and by type', async () => {
  const webhookId = await hook();
  const neighbour = await hook();
  const made = await make(webhookId, mixed);
  await make(neighbour, mixed);
  for (const status of [undefined, ...statuses])
    for (const type of [undefined, ...types])
      for (const limit of [4, 200]) {
        const search = [
          `limit=${limit}`,
          ...(status ? [`status=${status}`] : []),
          ...(type ? [`eventType=${type}`] : []),
        ].join('&');
        const expected = made
          .filter((delivery) => (!status || delivery.status === status) && (!type || delivery.type === type))
          .map(({ id }) => id)
          .toReversed();
        expect([search, await readAll(webhookId, search)]).toEqual([search, expected]);
      }
});

test('the page is 50 long by default, and a last one that is full names no next one', async () => {
  const webhookId = await hook();
  await make(
    webhookId,
    Array.from({ length: 51 }, () => ['email.sent', 'delivered'] as Kind),
  );
  const first = (await read(webhookId)).body;
  expect(first.data).toHaveLength(50);
  const second = (await read(webhookId, `?cursor=${first.nextCursor}`)).body;
  expect([second.data.length, second.nextCursor]).toEqual([1, null]);
  const whole = (await read(webhookId, '?limit=51')).body;
  expect([whole.data.length, whole.nextCursor]).toEqual([51, null]);
});

test('what comes in while pages are read does not move them', async () => {
  const webhookId = await hook();
  const made = await make(webhookId, mixed);
  const first = (await read(webhookId, '?limit=20')).body;
  await make(webhookId, mixed);
  const second = (await read(webhookId, `?limit=200&cursor=${first.nextCursor}`)).body;
  expect([...idsOf(first), ...idsOf(second)]).toEqual(made.map(({ id }) => id).toReversed());
});

test('a cursor is good for its webhook and its filter only', async () => {
  const webhookId = await hook();
  const another = await hook();
  await make(webhookId, mixed);
  const { nextCursor } = (await read(webhookId, '?limit=1&status=failed')).body;
  expect((await read(webhookId, `?limit=9&status=failed&cursor=${nextCursor}`)).status).toBe(200);
  for (const [id, search] of [
    [webhookId, ''],
    [webhookId, 'status=skipped&'],
    [webhookId, 'status=failed&eventType=email.sent&'],
    [another, 'status=failed&'],
  ] as const) {
    const { status, body } = await read(id, `?${search}cursor=${nextCursor}`);
    expect([search, status]).toEqual([search, 400]);
    expect(Object.keys(body.errors)).toEqual(['cursor']);
  }
});

test.each([
  ['status', 'status=sent'],
  ['eventType', 'eventType=email.*'],
  ['eventType', 'eventType=EMAIL.SENT'],
  ['limit', 'limit=0'],
  ['limit', 'limit=201'],
  ['cursor', 'cursor=x'],
])('%s is checked: %s', async (field, search) => {
  const { status, body } = await read(await hook(), `?${search}`);
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual([field]);
});

test('a rare mixture of status and type is found behind thousands that are not asked for, page after page', async () => {
  const webhookId = await hook();
  const rare = async () => (await make(webhookId, [['email.bounced', 'failed']]))[0]!.id;
  const common = (count: number) =>
    make(
      webhookId,
      Array.from({ length: count }, () => ['email.sent', 'failed'] as Kind),
    );
  const oldest = await rare();
  await common(6_500);
  const newest = await rare();
  const search = 'status=failed&eventType=email.bounced&limit=10';
  const first = (await read(webhookId, `?${search}`)).body;
  // The search for one page stops after a while; the next page continues it.
  expect(idsOf(first)).toEqual([newest]);
  expect(first.nextCursor).not.toBeNull();
  expect(await readAll(webhookId, search)).toEqual([newest, oldest]);
});

test('a page costs the same wherever it is, whatever else lies around it', async () => {
  const webhookId = await hook();
  const neighbour = await hook();
  const kindAt = (index: number): Kind => [
    index % 10 === 0 ? 'email.bounced' : 'email.sent',
    index % 7 === 0 ? 'failed' : 'delivered',
  ];
  const made = await make(
    webhookId,
    Array.from({ length: 3_000 }, (_, index) => kindAt(index)),
  );
  // All these deliveries are newer, and no page here asks for them.
  for (let batch = 0; batch < 3; batch += 1)
    await make(
      neighbour,
      Array.from({ length: 1_000 }, (): Kind => ['email.sent', 'delivered']),
    );
  await query('ANALYZE TABLE webhook_deliveries');
  const limit = 10;
  const oneFilter = [{}, { status: 'failed' as const }, { eventType: 'email.bounced' }];
  for (const filter of oneFilter)
    for (const before of [null, made[2_500]!.id, made[400]!.id]) {
      const list = () => listDeliveries(own.workspaceId, webhookId, filter, { before, downTo: null }, limit);
      expect(await list()).toHaveLength(limit);
      expect({ filter, before, read: await rowsRead(list) }).toEqual({
        filter,
        before,
        read: expect.toSatisfy((read) => read <= 2 * limit + 5),
      });
    }
  // With both filters, one of them is checked row by row: one in ten of the failed deliveries has the type.
  const both = { status: 'failed' as const, eventType: 'email.bounced' };
  const list = () => listDeliveries(own.workspaceId, webhookId, both, { before: null, downTo: null }, limit);
  expect(await list()).toHaveLength(limit);
  expect(await rowsRead(list)).toBeLessThanOrEqual(2 * 10 * limit + 5);
});
