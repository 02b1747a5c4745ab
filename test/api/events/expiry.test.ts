import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as retention from '../../../shared/domain/operations/retention.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { advanceClock, advanceClockTo } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const feed = (search: Record<string, string> = {}, key = own.key) =>
  api.request('GET', `/v2/events?${new URLSearchParams(search).toString()}`, { key });
const emailsIn = (answer: { body: any }): string[] =>
  answer.body.data.map(({ data }: { data: { id: string } }) => data.id);

async function emailInFeed(from = own): Promise<any> {
  const record = await sendEmail(api, from);
  await relay.relayAll();
  return record;
}

async function expectGone(cursor: string, key = own.key): Promise<void> {
  const { status, body } = await feed({ cursor }, key);
  expect(status).toBe(410);
  expect(body.type).toBe(`${api.url}/problems/cursor_expired`);
}

test('a cursor lives for 7 days, then it is 410 and the client starts again with since', async () => {
  const mine = await workspace();
  const madeAt = now();
  const { nextCursor: cursor } = (await feed({}, mine.key)).body;
  const madeBy = now();
  const record = await emailInFeed(mine);
  await advanceClockTo(new Date(madeAt.getTime() + 7 * dayMs - 60_000));
  expect(emailsIn(await feed({ cursor }, mine.key))).toEqual([record.id]);
  await advanceClockTo(new Date(madeBy.getTime() + 7 * dayMs + 1));
  await expectGone(cursor, mine.key);
  expect((await feed({ since: madeBy.toISOString() }, mine.key)).status).toBe(200);
});

test('a reader who keeps reading never meets a 410, however quiet it is', async () => {
  const mine = await workspace();
  let cursor: string = (await feed({}, mine.key)).body.nextCursor;
  for (let day = 0; day < 4; day += 1) {
    await advanceClock(4 * dayMs);
    await retention.purge();
    const answer = await feed({ cursor }, mine.key);
    expect(answer.status).toBe(200);
    cursor = answer.body.nextCursor;
  }
  const record = await emailInFeed(mine);
  expect(emailsIn(await feed({ cursor }, mine.key))).toEqual([record.id]);
});

test('since before the oldest event that is kept means that one, and nothing older', async () => {
  const mine = await workspace();
  const gone = await emailInFeed(mine);
  await advanceClock(2 * dayMs);
  const [first, second] = [await emailInFeed(mine), await emailInFeed(mine)];
  await advanceClock(5 * dayMs + 60_000);
  for (const since of [gone.createdAt, '2001-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00'])
    expect(emailsIn(await feed({ since }, mine.key))).toEqual([first.id, second.id]);
});

test('events of the whole 7 days can be read', async () => {
  const mine = await workspace();
  const sent: string[] = [];
  for (let day = 0; day < 7; day += 1) {
    sent.push((await emailInFeed(mine)).id);
    await retention.purge();
    await advanceClock(dayMs - 10_000);
  }
  const since = new Date(now().getTime() - 7 * dayMs).toISOString();
  expect(emailsIn(await feed({ since }, mine.key))).toEqual(sent);
});

// Shows A3
test('a young cursor that stands before events which are gone is 410, so none is missed in silence', async () => {
  const mine = await workspace();
  const first = await emailInFeed(mine);
  for (let count = 0; count < 2; count += 1) {
    await advanceClock(60_000);
    await emailInFeed(mine);
  }
  await advanceClock(6 * dayMs);
  const { body } = await feed({ since: first.createdAt, limit: '1' }, mine.key);
  expect(emailsIn({ body })).toEqual([first.id]);
  const young: string = body.nextCursor;
  await advanceClock(dayMs + 2 * hourMs);
  await retention.purge();
  await expectGone(young, mine.key);
});

test.each(['changed', 'cut', 'foreign', 'of another listing', 'made up'])(
  'a cursor that is %s is refused',
  async (kind) => {
    const cursor: string = (await feed()).body.nextCursor;
    const bad: Record<string, () => Promise<string>> = {
      changed: async () => cursor.slice(0, -3) + (cursor.at(-3) === 'A' ? 'B' : 'A') + cursor.slice(-2),
      cut: async () => cursor.slice(0, -4),
      foreign: async () => (await feed({}, (await workspace()).key)).body.nextCursor,
      'of another listing': async () => {
        await sendEmail(api, own);
        await sendEmail(api, own);
        return (await api.request('GET', '/v2/email?limit=1', { key: own.key })).body.nextCursor;
      },
      'made up': async () =>
        Buffer.from(JSON.stringify({ after: 0, since: null, at: now() })).toString('base64url'),
    };
    const { status, body } = await feed({ cursor: await bad[kind]!() });
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toEqual(['cursor']);
  },
);
