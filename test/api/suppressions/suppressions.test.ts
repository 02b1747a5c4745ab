import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const post = (body: object, key = own.key) => api.request('POST', '/v2/suppressions', { key, body });
const list = (search = '', key = own.key) => api.request('GET', `/v2/suppressions${search}`, { key });
let count = 0;
const newNumber = () => `+447700${String(900_000 + (count += 1))}`;
const newAddress = () => `person-${(count += 1)}@example.com`;

test('a number is stored in E.164, whatever the scope, and found again', async () => {
  const answer = await post({ number: '07700 900 777', scope: 'marketing', reason: 'asked by phone' });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^suppression_/),
    number: '+447700900777',
    email: null,
    scope: 'all',
    source: 'api',
    reason: 'asked by phone',
    createdAt: expect.any(String),
  });
  expect(answer.headers['location']).toBe(`${api.url}/v2/suppressions/${answer.body.id}`);
  const found = await api.request('GET', `/v2/suppressions/${answer.body.id}`, { key: own.key });
  expect(found.body).toEqual(answer.body);
});

test.each(['+447700900778', '0044 7700 900778', '(07700) 900-778', '447700900778', '+44 (0) 7700 900778'])(
  'a number written as %s is the one that is suppressed already',
  async (number) => {
    const first = await post({ number: '07700900778' });
    const again = await post({ number, reason: 'another reason' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers).not.toHaveProperty('location');
  },
);

test('an address is compared without regard to case, and kept as it was given', async () => {
  const first = await post({ email: 'Ada.Lovelace@Example.COM' });
  expect(first.body).toMatchObject({ number: null, email: 'Ada.Lovelace@Example.COM', scope: 'all' });
  const again = await post({ email: 'ada.lovelace@example.com', scope: 'all' });
  expect([again.status, again.body]).toEqual([200, first.body]);
});

test('local parts that some servers tell apart are different addresses', async () => {
  const ids = new Set<string>();
  for (const email of ['jo.smith@example.com', 'josmith@example.com', 'josmith+news@example.com']) {
    const answer = await post({ email });
    expect(answer.status).toBe(201);
    ids.add(answer.body.id);
  }
  expect(ids.size).toBe(3);
});

test('the domain of an address is the same in letters of its own and in punycode', async () => {
  const first = await post({ email: 'info@bücher.example' });
  const again = await post({ email: 'info@xn--bcher-kva.example' });
  expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
});

test('each scope of an address is an entry of its own', async () => {
  const email = newAddress();
  const marketing = await post({ email, scope: 'marketing' });
  const all = await post({ email });
  expect([marketing.status, all.status]).toEqual([201, 201]);
  expect(marketing.body.id).not.toBe(all.body.id);
  expect((await post({ email, scope: 'marketing' })).body).toEqual(marketing.body);
  const both = await list(`?email=${encodeURIComponent(email.toUpperCase())}`);
  expect(both.body.data).toEqual([all.body, marketing.body]);
});

test.each([
  [{}, ['number', 'email']],
  [{ number: null, email: null }, ['number', 'email']],
  [{ number: '07700 900123', email: 'a@example.com' }, ['number', 'email']],
  [{ number: '' }, ['number']],
  [{ number: 'not a number' }, ['number']],
  [{ number: '07700 900123 ext 4' }, ['number']],
  [{ number: 7700900123 }, ['number']],
  [{ email: '' }, ['email']],
  [{ email: 'a@b' }, ['email']],
  [{ email: 'a@example.com, b@example.com' }, ['email']],
  [{ email: 'Ada <a@example.com>' }, ['email']],
  [{ email: `${'a'.repeat(309)}@example.com` }, ['email']],
  // As it is typed it has 315 characters, and 322 with its domain in punycode.
  [{ email: `${'a'.repeat(300)}@bücher.example` }, ['email']],
  [{ email: 'a@example.com', scope: 'everything' }, ['scope']],
  [{ email: 'a@example.com', reason: 'x'.repeat(257) }, ['reason']],
  [{ email: 'a@example.com', reason: 'one\u0000two' }, ['reason']],
])('%j is refused, naming the field', async (body, fields) => {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body.errors)).toEqual(fields);
});

test('an address that has 320 characters in punycode fits, and one that is longer there is no filter', async () => {
  const address = (length: number) => `${'b'.repeat(length)}@bücher.example`;
  const { status, body } = await post({ email: address(298) });
  expect([status, body.email]).toEqual([201, address(298)]);
  const found = await list(`?email=${encodeURIComponent(address(298))}`);
  expect(found.body.data).toEqual([body]);
  const refused = await list(`?email=${encodeURIComponent(address(299))}`);
  expect([refused.status, Object.keys(refused.body.errors)]).toEqual([400, ['email']]);
});

test('an address of 320 characters and a reason of 256 fit', async () => {
  const answer = await post({ email: `${'a'.repeat(308)}@example.com`, reason: '✆'.repeat(256) });
  expect(answer.status).toBe(201);
});

test('ten requests at once for one number make one entry and one event', async () => {
  const number = newNumber();
  const answers = await Promise.all(Array.from({ length: 10 }, () => post({ number })));
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(answers.filter(({ status }) => status === 201).length).toBe(1);
  const events = await query<{ data: string }[]>(
    "SELECT data FROM events WHERE type = 'suppression.created'",
  );
  const told = events.map((row) => JSON.parse(row['data'])).filter((data) => data.number === number);
  expect(told).toEqual([answers[0]!.body]);
});

test('filters, pages and order of the listing', async () => {
  const other = await workspace();
  const made: string[] = [];
  for (let index = 0; index < 5; index += 1)
    made.unshift((await post({ email: newAddress(), scope: 'marketing' }, other.key)).body.id);
  made.unshift((await post({ number: newNumber() }, other.key)).body.id);

  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await list(`?limit=2${cursor && `&cursor=${cursor}`}`, other.key);
    seen.push(...page.body.data.map(({ id }: { id: string }) => id));
    cursor = page.body.nextCursor;
  }
  expect(seen).toEqual(made);
  const ids = async (search: string) =>
    (await list(search, other.key)).body.data.map(({ id }: { id: string }) => id);
  expect(await ids('?scope=all')).toEqual(made.slice(0, 1));
  expect(await ids('?scope=marketing&source=api')).toEqual(made.slice(1));
  expect(await ids('?source=bounce')).toEqual([]);
  expect(await ids(`?number=${encodeURIComponent('07700 900 999')}`)).toEqual([]);
  const first = await list('?limit=2', other.key);
  const elsewhere = await list(`?limit=2&cursor=${first.body.nextCursor}`);
  expect([elsewhere.status, Object.keys(elsewhere.body.errors)]).toEqual([400, ['cursor']]);
});

test('what is removed is gone, and can be suppressed anew', async () => {
  const number = newNumber();
  const { id } = (await post({ number })).body;
  const path = `/v2/suppressions/${id}`;
  expect((await api.request('DELETE', path, { key: own.key })).status).toBe(204);
  expect((await api.request('DELETE', path, { key: own.key })).status).toBe(404);
  expect((await api.request('GET', path, { key: own.key })).status).toBe(404);
  expect((await post({ number })).status).toBe(201);
});

test("another workspace's entries are its own", async () => {
  const other = await workspace();
  const number = newNumber();
  const { id } = (await post({ number })).body;
  for (const method of ['GET', 'DELETE'])
    expect((await api.request(method, `/v2/suppressions/${id}`, { key: other.key })).status).toBe(404);
  expect((await post({ number }, other.key)).status).toBe(201);
  expect((await list(`?number=${encodeURIComponent(number)}`)).body.data[0].id).toBe(id);
});
