import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { scopes } from '../../../shared/schemas/scopes.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const list = (key: string, search: Record<string, string> = {}) =>
  api.request('GET', `/v2/email?${new URLSearchParams(search).toString()}`, { key });
const idsOf = (answer: { body: any }): string[] => answer.body.data.map(({ id }: { id: string }) => id);

/** Reads all pages, from the first on. */
async function walk(key: string, search: Record<string, string>, between = async () => {}) {
  const pages: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer = await list(key, { ...search, ...(cursor ? { cursor } : {}) });
    expect(answer.status).toBe(200);
    pages.push(idsOf(answer));
    cursor = answer.body.nextCursor;
    await between();
  }
  return pages;
}

test('emails are listed newest first, as whole records, in one page when they fit', async () => {
  const own = await workspace();
  expect((await list(own.key)).body).toStrictEqual({ data: [], nextCursor: null });
  const first = await sendEmail(api, own, { clientReference: 'first' });
  const second = await sendEmail(api, own, { clientReference: 'second' });
  const answer = await list(own.key);
  expect(answer.status).toBe(200);
  expect(answer.body).toStrictEqual({ data: [second, first], nextCursor: null });
});

test('a page holds 50 emails unless limit says otherwise, up to 200', async () => {
  const own = await workspace();
  const sent: string[] = [];
  for (let count = 0; count < 53; count += 1) sent.unshift((await sendEmail(api, own)).id);
  expect((await walk(own.key, {})).map(({ length }) => length)).toEqual([50, 3]);
  expect((await walk(own.key, {})).flat()).toEqual(sent);
  expect(await walk(own.key, { limit: '200' })).toEqual([sent]);
  expect((await walk(own.key, { limit: '20' })).flat()).toEqual(sent);
  // A page that ends with the last email has no next cursor.
  expect((await list(own.key, { limit: '53' })).body.nextCursor).toBeNull();
  expect((await list(own.key, { limit: '52' })).body.nextCursor).not.toBeNull();
});

test('a walk over the pages sees every email once while new ones arrive', async () => {
  const own = await workspace();
  const sent: string[] = [];
  for (let count = 0; count < 12; count += 1) sent.unshift((await sendEmail(api, own)).id);
  const pages = await walk(own.key, { limit: '5' }, async () => void (await sendEmail(api, own)));
  expect(pages.flat()).toEqual(sent);
});

test.each(['0', '201', '-1', '1e1', '1.0', 'abc', ' 5', ''])('the limit %j is refused', async (limit) => {
  const { key } = await shared();
  const { status, body } = await list(key, { limit });
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual(['limit']);
});

test('each filter finds its emails, and together they narrow each other', async () => {
  const { key, emails } = await shared();
  const filters: [Record<string, string>, (keyof typeof emails)[]][] = [
    [{ status: 'cancelled' }, ['cancelled']],
    [{ status: 'queued' }, ['marketing', 'code', 'plain']],
    [{ status: 'sent' }, []],
    [{ kind: 'marketing' }, ['marketing']],
    [{ kind: 'authentication' }, ['code']],
    [{ recipient: 'grace@example.com' }, ['marketing', 'code']],
    [{ recipient: 'GRACE@Example.COM' }, ['marketing', 'code']],
    [{ recipient: 'grace@example.org' }, []],
    [{ clientReference: 'Ref 1' }, ['cancelled', 'marketing']],
    [{ clientReference: 'ref 1' }, []],
    [{ clientTag: 'spring-sale' }, ['marketing', 'code']],
    [{ clientTag: 'Spring Sale' }, ['marketing', 'code']],
    [{ clientTag: 'spring' }, []],
    [{ clientTag: 'spring-sale', kind: 'marketing' }, ['marketing']],
    [{ clientReference: 'Ref 1', recipient: 'grace@example.com' }, ['marketing']],
    [{ clientReference: 'Ref 1', status: 'queued', kind: 'transactional' }, []],
  ];
  for (const [filter, names] of filters)
    expect([filter, idsOf(await list(key, filter))]).toEqual([filter, names.map((name) => emails[name].id)]);
});

test('since takes in its moment and until leaves it out, with any offset', async () => {
  const own = await workspace();
  const early = await sendEmail(api, own);
  await advanceClock(60_000);
  const late = await sendEmail(api, own);
  const plus = (text: string, ms: number) => new Date(Date.parse(text) + ms).toISOString();
  expect(idsOf(await list(own.key, { since: late.createdAt }))).toEqual([late.id]);
  expect(idsOf(await list(own.key, { until: late.createdAt }))).toEqual([early.id]);
  expect(idsOf(await list(own.key, { since: early.createdAt, until: late.createdAt }))).toEqual([early.id]);
  const shifted = plus(late.createdAt, 7_200_000).replace('Z', '+02:00');
  expect(idsOf(await list(own.key, { since: shifted }))).toEqual([late.id]);
  expect(idsOf(await list(own.key, { since: plus(late.createdAt, 1000) }))).toEqual([]);
});

test.each([
  ['status', 'lost'],
  ['kind', 'bulk'],
  ['recipient', 'not an address'],
  ['recipient', ''],
  ['clientReference', 'x'.repeat(65)],
  ['clientTag', 'x'.repeat(129)],
  ['since', 'yesterday'],
  ['until', '2026-11-20T10:00:00'],
])('the filter %s=%j is refused under its name', async (name, value) => {
  const { key } = await shared();
  const { status, body } = await list(key, { [name]: value });
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual([name]);
});

test('every filter that is wrong is named', async () => {
  const { key } = await shared();
  const { body } = await list(key, { status: 'x', kind: 'x', since: 'x', until: 'x', limit: 'x' });
  expect(Object.keys(body.errors).toSorted()).toEqual(['kind', 'limit', 'since', 'status', 'until']);
});

async function refusesCursor(key: string, search: Record<string, string>): Promise<void> {
  const { status, body } = await list(key, search);
  expect(status).toBe(400);
  expect(body.type).toMatch(/validation_failed$/);
  expect(Object.keys(body.errors)).toEqual(['cursor']);
}

test('a cursor is good only for the filter that it was made with', async () => {
  const { key } = await shared();
  const { body } = await list(key, { limit: '1', clientTag: 'spring-sale' });
  const cursor: string = body.nextCursor;
  expect((await list(key, { limit: '5', clientTag: 'spring-sale', cursor })).status).toBe(200);
  await refusesCursor(key, { cursor });
  await refusesCursor(key, { clientTag: 'other', cursor });
  await refusesCursor(key, { clientTag: 'spring-sale', kind: 'marketing', cursor });
});

test('a cursor is good only in its workspace', async () => {
  const { key } = await shared();
  const other = await workspace();
  const { body } = await list(key, { limit: '1' });
  await refusesCursor(other.key, { cursor: body.nextCursor });
});

test('a cursor of another listing is refused', async () => {
  const { key } = await shared();
  const feed = await api.request('GET', '/v2/events', { key });
  await refusesCursor(key, { cursor: feed.body.nextCursor });
});

test('a cursor that was changed, cut or made up is refused', async () => {
  const { key } = await shared();
  const cursor: string = (await list(key, { limit: '1' })).body.nextCursor;
  const changed = Array.from(cursor, (_, at) => at)
    .filter((at) => at % 7 === 0)
    .map((at) => cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1));
  for (const bad of [...changed, cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, 'x', 'null', '%'])
    await refusesCursor(key, { cursor: bad });
});

test('filtering by recipient needs the right to see recipients', async () => {
  const { key, workspaceId } = await shared();
  const blind = scopes.filter((scope) => scope !== 'recipients.read');
  const { key: blindKey } = await apiKeys.issue(workspaceId, { scopes: blind });
  const { status, body } = await list(blindKey, { recipient: 'grace@example.com' });
  expect(status).toBe(403);
  expect(body.detail).toContain('recipients.read');
  expect((await list(key, { recipient: 'grace@example.com' })).status).toBe(200);
});

test('another workspace’s emails are never listed', async () => {
  await shared();
  const other = await workspace();
  expect((await list(other.key, { clientTag: 'spring-sale' })).body.data).toEqual([]);
});

let made: Promise<Awaited<ReturnType<typeof makeShared>>> | undefined;
/** A workspace that several tests read and no test changes. */
const shared = () => (made ??= makeShared());

async function makeShared() {
  const own = await workspace();
  const plain = await sendEmail(api, own, { recipient: 'ada@example.com' });
  const code = await sendEmail(api, own, {
    recipient: 'Grace@example.com',
    kind: 'authentication',
    clientTag: 'Spring sale',
  });
  const marketing = await sendEmail(api, own, {
    recipient: 'grace@EXAMPLE.com',
    kind: 'marketing',
    clientReference: 'Ref 1',
    clientTag: 'spring-sale',
  });
  const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
  const scheduled = await sendEmail(api, own, { clientReference: 'Ref 1', scheduledAt });
  const { body: cancelled } = await api.request('DELETE', `/v2/email/${scheduled.id}`, { key: own.key });
  return { ...own, emails: { plain, code, marketing, cancelled } };
}

test('a tag is found as it was given and as it is shown, which may be twice as long', async () => {
  const other = await workspace();
  const clientTag = 'İ'.repeat(64);
  const { id, clientTag: shown } = await sendEmail(api, other, { clientTag });
  expect([...shown]).toHaveLength(128);
  for (const tag of [clientTag, shown])
    expect((await list(other.key, { clientTag: tag })).body.data.map((email: any) => email.id)).toEqual([id]);
});
