import { createClient } from 'messaging-service/client';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { insertEvents } from '../../../shared/db/events/events.system.ts';
import { make } from '../../../shared/domain/events/events.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { type EventType, eventTypes } from '../../../shared/schemas/events.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { eventData } from '../../support/data/event-data.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  await addEvents(own.workspaceId, [...eventTypes]);
});

/** Adds events of these types, each of its own record, numbered in this order. */
async function addEvents(workspaceId: string, types: EventType[]): Promise<void> {
  const events = types.map((type) => {
    const id = newId('sms', now());
    return { workspaceId, event: make(type, { id, seq: 1, data: eventData(type) }, now()) };
  });
  await insertEvents(events);
  await relay.relayAll();
}

const feed = (search: string, key = own.key) => api.request('GET', `/v2/events?${search}`, { key });
const typesIn = (answer: { body: any }): string[] =>
  answer.body.data.map(({ type }: { type: string }) => type);
const ofGroup = (group: string) => eventTypes.filter((type) => type.startsWith(`${group}.`));

test.each<[search: string, types: readonly string[]]>([
  ['', eventTypes],
  ['types=', eventTypes],
  ['types=sms.received', ['sms.received']],
  ['types=email.sent,sms.sent', ['email.sent', 'sms.sent']],
  ['types=email.sent&types=sms.sent', ['email.sent', 'sms.sent']],
  ['types=sms.sent&types=email.sent,email.queued', ['email.queued', 'email.sent', 'sms.sent']],
  ['types=email.sent%2Csms.sent', ['email.sent', 'sms.sent']],
  ['types=email.*', ofGroup('email')],
  ['types=batch.*,suppression.*', [...ofGroup('batch'), ...ofGroup('suppression')]],
  ['types=email.*,email.sent', ofGroup('email')],
])('%j finds its events', async (search, types) => {
  const answer = await feed(search);
  expect(answer.status).toBe(200);
  expect(typesIn(answer)).toEqual(types);
});

test.each([
  'email',
  'email.',
  '*',
  'email.exploded',
  'EMAIL.SENT',
  'email.s*',
  '*.sent',
  'sender.*',
  'email.%',
])('the type %j is refused', async (type) => {
  const { status, body } = await feed(`types=email.sent&types=${encodeURIComponent(type)}`);
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual(['types[1]']);
});

test('a full page has more behind it, as far as it can tell; another has none', async () => {
  const mine = await workspace();
  await addEvents(mine.workspaceId, ['sms.sent', 'sms.sent', 'sms.sent']);
  const first = await feed('limit=2', mine.key);
  const rest = `cursor=${encodeURIComponent(first.body.nextCursor)}`;
  const pages = [first, await feed(rest, mine.key), await feed('types=email.*', mine.key)];
  expect(pages.map(({ body }) => [body.data.length, body.hasMore])).toEqual([
    [2, true],
    [1, false],
    [0, false],
  ]);
});

test('the types may change from page to page', async () => {
  const first = await feed('types=email.*&limit=2');
  expect(typesIn(first)).toEqual(['email.queued', 'email.sent']);
  const cursor = encodeURIComponent(first.body.nextCursor);
  expect(typesIn(await feed(`types=sms.sent,email.sent,email.failed&cursor=${cursor}`))).toEqual([
    'email.failed',
    'sms.sent',
  ]);
});

test('the cursor moves past what was looked at, not only past what matched', async () => {
  const mine = await workspace();
  await addEvents(mine.workspaceId, ['sms.sent', 'email.sent', 'sms.sent', 'sms.sent']);
  const first = await feed('types=email.sent', mine.key);
  expect(typesIn(first)).toEqual(['email.sent']);
  // Without the filter, the events that it passed over do not come again.
  const cursor = encodeURIComponent(first.body.nextCursor);
  expect(typesIn(await feed(`cursor=${cursor}`, mine.key))).toEqual([]);
});

test('a rare type is found behind thousands of others', async () => {
  const mine = await workspace();
  await addEvents(mine.workspaceId, [...Array<EventType>(6_000).fill('sms.sent'), 'email.bounced']);
  const answer = await feed('types=email.bounced', mine.key);
  expect(typesIn(answer)).toEqual(['email.bounced']);
  const cursor = encodeURIComponent(answer.body.nextCursor);
  expect(typesIn(await feed(`cursor=${cursor}`, mine.key))).toEqual([]);
});

test('where a request does not reach the end, it says so, its cursor goes on from there, and the client does not pause', async () => {
  const mine = await workspace();
  await addEvents(mine.workspaceId, [...Array<EventType>(21_000).fill('sms.sent'), 'email.bounced']);
  let answer = await feed('types=email.bounced', mine.key);
  let requests = 1;
  for (; answer.body.data.length === 0 && requests < 10; requests += 1) {
    expect(answer.body.hasMore).toBe(true);
    answer = await feed(`types=email.bounced&cursor=${encodeURIComponent(answer.body.nextCursor)}`, mine.key);
  }
  expect(typesIn(answer)).toEqual(['email.bounced']);
  expect(answer.body.hasMore).toBe(false);
  expect(requests).toBeGreaterThan(1);

  const ofClient = createClient({ baseUrl: api.url, apiKey: mine.key });
  // With a pause on its way it would take longer than a test may.
  for await (const { data } of ofClient.follow({ types: ['email.bounced'] }, { pollSeconds: 3_600 })) {
    expect(data.map(({ type }) => type)).toEqual(['email.bounced']);
    break;
  }
});
