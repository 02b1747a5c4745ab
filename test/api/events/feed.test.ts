import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import * as emailDelivery from '../../../shared/domain/email/delivery/delivery.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  const sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  api = await startApi();
  own = await workspace();
});

const feed = (search: Record<string, string> = {}, key = own.key) =>
  api.request('GET', `/v2/events?${new URLSearchParams(search).toString()}`, { key });
const emailsIn = (answer: { body: any }): string[] =>
  answer.body.data.map(({ data }: { data: { id: string } }) => data.id);

/** Sends emails and numbers their queued events, which puts them in the feed. Returns the emails, oldest first. */
async function emailsInFeed(count: number, from = own): Promise<any[]> {
  const sent: any[] = [];
  for (let index = 0; index < count; index += 1) sent.push(await sendEmail(api, from));
  await relay.relayAll();
  return sent;
}

test('an item of the feed is the envelope of the event, with the email as it was then', async () => {
  const mine = await workspace();
  const [record] = await emailsInFeed(1, mine);
  const { status, body } = await feed({}, mine.key);
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    data: [
      {
        id: expect.stringMatching(/^event_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
        type: 'email.queued',
        occurredAt: record.createdAt,
        apiVersion: '2026-11-01',
        workspaceId: mine.workspaceId,
        data: record,
      },
    ],
    nextCursor: expect.any(String),
    hasMore: false,
  });
});

test('the events come oldest first, those of one email in their order', async () => {
  const mine = await workspace();
  const [first, second] = await emailsInFeed(2, mine);
  await emailDelivery.attempt(second.id);
  await emailDelivery.attempt(first.id);
  await relay.relayAll();
  const { body } = await feed({}, mine.key);
  expect(body.data.map(({ type, data }: any) => [data.id, type, data.status])).toEqual([
    [first.id, 'email.queued', 'queued'],
    [second.id, 'email.queued', 'queued'],
    [second.id, 'email.sent', 'sent'],
    [first.id, 'email.sent', 'sent'],
  ]);
});

test('without since the feed starts one hour ago', async () => {
  const mine = await workspace();
  const [early] = await emailsInFeed(1, mine);
  await advanceClock(3_590_000);
  const [late] = await emailsInFeed(1, mine);
  expect(emailsIn(await feed({}, mine.key))).toEqual([early.id, late.id]);
  await advanceClock(20_000);
  expect(emailsIn(await feed({}, mine.key))).toEqual([late.id]);
});

test('since takes in its moment, in any offset', async () => {
  const mine = await workspace();
  const [early] = await emailsInFeed(1, mine);
  await advanceClock(3 * 3_600_000);
  const [late] = await emailsInFeed(1, mine);
  const at = (text: string, plusMs = 0) => new Date(Date.parse(text) + plusMs).toISOString();
  expect(emailsIn(await feed({ since: early.createdAt }, mine.key))).toEqual([early.id, late.id]);
  expect(emailsIn(await feed({ since: at(early.createdAt, 1) }, mine.key))).toEqual([late.id]);
  const shifted = at(late.createdAt, -5 * 3_600_000).replace('Z', '-05:00');
  expect(emailsIn(await feed({ since: shifted }, mine.key))).toEqual([late.id]);
});

test('since in the future is refused', async () => {
  const since = new Date(now().getTime() + 60_000).toISOString();
  const { status, body } = await feed({ since });
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual(['since']);
});

test.each(['yesterday', '2026-11-20', '2026-11-20T10:00:00', '1763632800', ''])(
  'since %j is refused',
  async (since) => {
    const { status, body } = await feed({ since });
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toEqual(['since']);
  },
);

test('there is always a cursor, and it returns only what is newer', async () => {
  const mine = await workspace();
  const empty = await feed({}, mine.key);
  expect(empty.body).toStrictEqual({ data: [], nextCursor: expect.any(String), hasMore: false });
  const [first] = await emailsInFeed(1, mine);
  const second = await feed({ cursor: empty.body.nextCursor }, mine.key);
  expect(emailsIn(second)).toEqual([first.id]);
  const third = await feed({ cursor: second.body.nextCursor }, mine.key);
  expect(third.body).toStrictEqual({ data: [], nextCursor: expect.any(String), hasMore: false });
  const [next] = await emailsInFeed(1, mine);
  expect(emailsIn(await feed({ cursor: third.body.nextCursor }, mine.key))).toEqual([next.id]);
  // An old cursor still points to its place.
  expect(emailsIn(await feed({ cursor: empty.body.nextCursor }, mine.key))).toEqual([first.id, next.id]);
});

test('an event is not in the feed before it has its place, and then comes after the cursor', async () => {
  const mine = await workspace();
  const { id } = await sendEmail(api, mine);
  const before = await feed({}, mine.key);
  expect(before.body.data).toEqual([]);
  await relay.relayAll();
  expect(emailsIn(await feed({ cursor: before.body.nextCursor }, mine.key))).toEqual([id]);
});

test('pages of any size add up to the whole, each event once', async () => {
  const mine = await workspace();
  const sent = (await emailsInFeed(11, mine)).map(({ id }) => id);
  for (const limit of ['1', '4', '11', '1000']) {
    const seen: string[] = [];
    let page = await feed({ limit }, mine.key);
    while (page.body.data.length > 0) {
      expect(page.body.data.length).toBeLessThanOrEqual(Number(limit));
      seen.push(...emailsIn(page));
      page = await feed({ limit, cursor: page.body.nextCursor }, mine.key);
    }
    expect(seen).toEqual(sent);
  }
});

test('a page holds 100 events unless limit says otherwise', async () => {
  const mine = await workspace();
  const sent = (await emailsInFeed(102, mine)).map(({ id }) => id);
  const first = await feed({}, mine.key);
  expect(emailsIn(first)).toEqual(sent.slice(0, 100));
  expect(emailsIn(await feed({ cursor: first.body.nextCursor }, mine.key))).toEqual(sent.slice(100));
  expect(emailsIn(await feed({ limit: '1000' }, mine.key))).toEqual(sent);
});

test.each(['0', '1001', '-1', '1.5', 'abc', ''])('the limit %j is refused', async (limit) => {
  const { status, body } = await feed({ limit });
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual(['limit']);
});

test('cursor wins over since', async () => {
  const mine = await workspace();
  const [early] = await emailsInFeed(1, mine);
  const { body } = await feed({}, mine.key);
  const [late] = await emailsInFeed(1, mine);
  const cursor: string = body.nextCursor;
  expect(emailsIn(await feed({ cursor, since: early.createdAt }, mine.key))).toEqual([late.id]);
  const since = new Date(now().getTime() + 60_000).toISOString();
  expect(emailsIn(await feed({ cursor, since }, mine.key))).toEqual([late.id]);
});

// Shows A5
test('another workspace’s events are never there', async () => {
  const [mine, other] = [await workspace(), await workspace()];
  await emailsInFeed(2, other);
  const [record] = await emailsInFeed(1, mine);
  expect(emailsIn(await feed({ limit: '1000' }, mine.key))).toEqual([record.id]);
});
