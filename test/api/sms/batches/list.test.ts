import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { listEventsOfRecord } from '../../../../shared/db/events/events.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { batchOf, messagesTo, newBatch, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const listed = async (query = '') => {
  const { status, body } = await api.request('GET', `/v2/sms/batches${query}`, { key: own.key });
  expect(status).toBe(200);
  return body;
};
const inHours = (hours: number) => new Date(now().getTime() + hours * 3_600_000).toISOString();

test('batches are listed newest first, by status, reference, tag in any case, and time', async () => {
  const make = async (changes: object) => {
    await advanceClock(1_000);
    return await newBatch(api, own, { messages: messagesTo(1), ...changes });
  };
  const first = await make({ clientReference: 'May', clientTag: 'News' });
  const second = await make({ clientReference: 'may', clientTag: 'Old news' });
  const third = await make({ clientTag: 'news', scheduledAt: inHours(2) });
  await api.request('DELETE', `/v2/sms/batches/${second.id}`, { key: own.key });

  const placesOf = async (query: string) => {
    const { data } = await listed(query);
    return data.map(({ id }: { id: string }) => [first, second, third].findIndex((one) => one.id === id));
  };
  expect(await placesOf('')).toEqual([2, 1, 0]);
  expect(await placesOf('?status=cancelled')).toEqual([1]);
  expect(await placesOf('?status=scheduled')).toEqual([2]);
  expect(await placesOf('?clientReference=May')).toEqual([0]);
  expect(await placesOf('?clientTag=NEWS')).toEqual([2, 0]);
  expect(await placesOf('?clientTag=old-news&status=processing')).toEqual([]);
  expect(await placesOf(`?since=${second.createdAt}`)).toEqual([2, 1]);
  expect(await placesOf(`?until=${second.createdAt}`)).toEqual([0]);

  const page = await listed('?limit=2');
  expect(page.data.map(({ id }: { id: string }) => id)).toEqual([third.id, second.id]);
  const rest = await listed(`?limit=2&cursor=${page.nextCursor}`);
  expect([rest.data.map(({ id }: { id: string }) => id), rest.nextCursor]).toEqual([[first.id], null]);
});

test('the rows that were not taken are told in the answer alone, the first thousand, and counted', async () => {
  const wrong = Array.from({ length: 1_001 }, () => ({ recipient: '1' }));
  const batch = await newBatch(api, own, { messages: [...wrong, ...messagesTo(1, 50)] });
  expect([batch.errors.length, batch.errorCount, batch.counts.total]).toEqual([1_000, 1_001, 1]);
  expect(batch.errors.at(-1).index).toBe(999);
  await workOff(batch.id);
  await api.request('DELETE', `/v2/sms/batches/${batch.id}`, { key: own.key });
  const shown = await batchOf(api, own, batch.id);
  const [inList] = (await listed('?limit=1')).data;
  const [event] = await listEventsOfRecord(own.workspaceId, batch.id);
  for (const record of [shown, inList, JSON.parse(event!.data)]) {
    expect(record.id).toBe(batch.id);
    for (const field of ['errors', 'errorCount']) expect(record).not.toHaveProperty(field);
  }
  const none = await api.request('POST', '/v2/sms/batches', {
    key: own.key,
    body: { content: 'Hello', messages: wrong.slice(0, 150) },
  });
  expect([none.status, Object.keys(none.body.errors)]).toEqual([
    400,
    Array.from({ length: 100 }, (_, index) => `messages[${index}].recipient`),
  ]);
});

test('parts and cost are those of the messages made so far', async () => {
  const batch = await newBatch(api, own, {
    messages: [...messagesTo(2, 100), { recipient: '+447911000999', content: 'x'.repeat(161) }],
  });
  expect([batch.parts, batch.cost]).toEqual([0, { gbp: '0.0000', eur: '0.0000' }]);
  await workOff(batch.id);
  expect((await batchOf(api, own, batch.id)).parts).toBe(4);
});

test('the cost of a batch is a sum, also where no message has a price', async () => {
  const batch = await newBatch(api, own, { messages: messagesTo(2) });
  await workOff(batch.id);
  const { body } = await api.request('GET', `/v2/sms?batchId=${batch.id}`, { key: own.key });
  const nothing = { gbp: null, eur: null };
  expect(body.data.map(({ cost }: { cost: object }) => cost)).toEqual([nothing, nothing]);
  expect((await batchOf(api, own, batch.id)).cost).toEqual({ gbp: '0.0000', eur: '0.0000' });
  const { schemas } = (await api.request('GET', '/openapi.json')).body.components;
  const { gbp, eur } = schemas.SmsCostSum.properties;
  expect([gbp.type, eur.type]).toEqual(['string', 'string']);
});
