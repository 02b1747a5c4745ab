import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let other: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  other = await workspace();
});

const post = (body: object, key = own.key) => api.request('POST', '/v2/contacts', { key, body });
const get = (path: string, key = own.key) => api.request('GET', `/v2/contacts${path}`, { key });
const patch = (id: string, body: object, key = own.key) =>
  api.request('PATCH', `/v2/contacts/${id}`, { key, body });
const remove = (id: string, key = own.key) => api.request('DELETE', `/v2/contacts/${id}`, { key });

let count = 0;
const newNumber = () => `+447${String(700_000_000 + (count += 1))}`;
const make = async (fields: object = {}, key = own.key) =>
  (await post({ number: newNumber(), ...fields }, key)).body;

const whole = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  company: 'Analytical Engines Ltd',
  email: 'Ada@Example.com',
  clientReference: 'A-1',
};

test('a contact is stored with its number in E.164, its country, and its tags sorted', async () => {
  const answer = await post({ number: '07700 900 123', ...whole, tags: ['vip', 'Newsletter', 'early'] });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^contact_/),
    number: '+447700900123',
    country: 'GB',
    ...whole,
    tags: ['Newsletter', 'early', 'vip'],
    suppressed: false,
    createdAt: expect.any(String),
    updatedAt: answer.body.createdAt,
  });
  expect(answer.headers['location']).toBe(`${api.url}/v2/contacts/${answer.body.id}`);
  const found = await get(`/${answer.body.id}`);
  expect([found.status, found.body]).toEqual([200, answer.body]);
});

test('what is left out, null or empty is null', async () => {
  const texts = { firstName: null, lastName: '', email: null, tags: null };
  const { body } = await post({ number: newNumber(), ...texts });
  const nothing = { firstName: null, lastName: null, company: null, email: null, clientReference: null };
  expect(body).toMatchObject({ ...nothing, tags: [] });
});

test('what is not its to set is ignored', async () => {
  const body = await make({ id: 'contact_01h455vb4pex5vsknk084sn02q', suppressed: true, country: 'FR' });
  expect(body).toMatchObject({ suppressed: false, country: 'GB' });
  expect(body.id).not.toBe('contact_01h455vb4pex5vsknk084sn02q');
});

test.each([
  ['+33 6 12 34 56 78', '+33612345678', 'FR'],
  ['0044 20 7946 0018', '+442079460018', 'GB'],
  ['(020) 7946-0019', '+442079460019', 'GB'],
  ['+1 (213) 373-4253', '+12133734253', 'US'],
  ['+800 1234 5678', '+80012345678', null],
])('%s becomes %s of %s', async (number, e164, country) => {
  expect((await post({ number })).body).toMatchObject({ number: e164, country });
});

const fine = '07700900124';
test.each([
  ['no number', {}, ['number']],
  ['an empty number', { number: '' }, ['number']],
  ['a blank number', { number: '   ' }, ['number']],
  ['null for a number', { number: null }, ['number']],
  ['a number that is no text', { number: 7700900123 }, ['number']],
  ['a number of letters', { number: 'nobody' }, ['number']],
  ['a number with letters for digits', { number: '0800 FLOWERS' }, ['number']],
  ['a number too short to be one', { number: '12' }, ['number']],
  ['a number with an extension', { number: '07700 900123 ext 4' }, ['number']],
  ['a number of 41 characters', { number: '0'.repeat(41) }, ['number']],
  [
    'long names',
    { number: fine, firstName: 'x'.repeat(81), lastName: 'x'.repeat(81) },
    ['firstName', 'lastName'],
  ],
  ['a long company', { number: fine, company: 'x'.repeat(121) }, ['company']],
  ['a long email', { number: fine, email: 'x'.repeat(257) }, ['email']],
  ['a long reference', { number: fine, clientReference: 'x'.repeat(129) }, ['clientReference']],
  ['a control character', { number: fine, firstName: 'a\u0000b' }, ['firstName']],
  ['half a surrogate pair', { number: fine, firstName: 'a\ud800b' }, ['firstName']],
  ['a name that is no text', { number: fine, firstName: 5 }, ['firstName']],
  ['tags that are no list', { number: fine, tags: 'vip' }, ['tags']],
  ['a tag that is no text', { number: fine, tags: ['a', 5] }, ['tags[1]']],
  ['a control character in a tag', { number: fine, tags: ['a\nb', 'a\u0007b'] }, ['tags[1]']],
  ['101 tags', { number: fine, tags: Array.from({ length: 101 }, (_, index) => `tag ${index}`) }, ['tags']],
])('%s is refused, naming the field', async (_, body, fields) => {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body.errors)).toEqual(fields);
  expect((await get('?search=07700900124')).body.data).toEqual([]);
});

test('texts as long as they may be are kept as they are, counted in characters', async () => {
  const long = {
    firstName: '😀'.repeat(80),
    lastName: 'é'.repeat(80),
    company: '株'.repeat(120),
    email: `${'a'.repeat(244)}@example.com`,
    clientReference: ' '.repeat(128),
  };
  const tags = Array.from({ length: 100 }, (_, index) => `${index}${'😀'.repeat(62)}`).toSorted();
  const { body, status } = await post({ number: newNumber(), ...long, tags });
  expect(status).toBe(201);
  expect(body).toMatchObject({ ...long, tags });
  expect((await get(`/${body.id}`)).body).toEqual(body);
});

// Shows A17
test('tags are trimmed; blank, longer and repeated ones are dropped, whatever their case', async () => {
  const tags = ['  VIP ', 'vip', '', '   ', 'x'.repeat(65), 'y'.repeat(64), 'Straße', 'STRASSE', 'Vip'];
  const { body } = await post({ number: newNumber(), tags });
  expect(body.tags).toEqual(['Straße', 'VIP', 'y'.repeat(64)]);
});

test('a number that a contact has already is refused, however it is written; another workspace may have it', async () => {
  const { number } = await make();
  const again = await post({ number: `(0${number.slice(3, 6)}) ${number.slice(6)}` });
  expect([again.status, again.body.type]).toEqual([409, expect.stringMatching(/number_taken$/)]);
  expect((await post({ number }, other.key)).status).toBe(201);
});

test('ten requests at once for one number make one contact', async () => {
  const number = newNumber();
  const answers = await Promise.all(Array.from({ length: 10 }, () => post({ number })));
  const made = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status === 409);
  expect([made.length, refused.length]).toEqual([1, 9]);
});

test('a change touches what it names: null and left out stay, an empty text or list clears', async () => {
  const before = await make({ ...whole, tags: ['a', 'b'] });
  const answer = await patch(before.id, { firstName: 'Augusta', lastName: null, company: '', tags: null });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    ...before,
    firstName: 'Augusta',
    company: null,
    updatedAt: expect.any(String),
  });
  expect((await patch(before.id, { tags: ['c', 'B'] })).body.tags).toEqual(['B', 'c']);
  expect((await patch(before.id, { tags: [] })).body.tags).toEqual([]);
  expect((await get(`/${before.id}`)).body).toMatchObject({
    firstName: 'Augusta',
    lastName: 'Lovelace',
    tags: [],
  });
});

test('updatedAt tells when something last changed', async () => {
  const before = await make({ ...whole, tags: ['a'] });
  const same = await patch(before.id, { ...whole, number: before.number, tags: ['a', 'A'] });
  expect(same.body).toEqual(before);
  await advanceClock(60_000);
  expect((await patch(before.id, whole)).body).toEqual(before);
  const changed = (await patch(before.id, { firstName: 'Augusta' })).body;
  expect(Date.parse(changed.updatedAt) - Date.parse(before.updatedAt)).toBeGreaterThan(59_000);
  expect(changed.createdAt).toBe(before.createdAt);
});

test('a new number is normalised, with its country, and must be free', async () => {
  const before = await make(whole);
  const changed = await patch(before.id, { number: '0033 6 12 34 99 78' });
  expect(changed.body).toMatchObject({ number: '+33612349978', country: 'FR', firstName: 'Ada' });
  const { number } = await make();
  const taken = await patch(before.id, { number, firstName: 'Eve', tags: ['taken'] });
  expect([taken.status, taken.body.type]).toEqual([409, expect.stringMatching(/number_taken$/)]);
  expect((await get(`/${before.id}`)).body).toEqual(changed.body);
  expect((await get('?tag=taken')).body.data).toEqual([]);
  for (const bad of ['', 'none', '07700 900123 x5'])
    expect(Object.keys((await patch(before.id, { number: bad })).body.errors)).toEqual(['number']);
  // The old number is free again.
  expect((await post({ number: before.number })).status).toBe(201);
});

test('whether a contact is suppressed follows its number at once', async () => {
  const { id, number, suppressed } = await make();
  expect(suppressed).toBe(false);
  const suppress = (body: object) => api.request('POST', '/v2/suppressions', { key: own.key, body });
  const suppression = (await suppress({ number })).body;
  const seen = async () => [
    (await get(`/${id}`)).body.suppressed,
    (await get('?limit=1')).body.data[0].suppressed,
    (await patch(id, { firstName: 'Ada' })).body.suppressed,
  ];
  expect(await seen()).toEqual([true, true, true]);
  expect((await patch(id, { number: newNumber() })).body.suppressed).toBe(false);
  expect((await patch(id, { number })).body.suppressed).toBe(true);
  await api.request('DELETE', `/v2/suppressions/${suppression.id}`, { key: own.key });
  expect(await seen()).toEqual([false, false, false]);
  // A suppression of another workspace has no effect in this one.
  await api.request('POST', '/v2/suppressions', { key: other.key, body: { number } });
  expect(await seen()).toEqual([false, false, false]);
});

test('what is deleted is gone: its words, its tags, its place in the counts', async () => {
  const { id, number } = await make({ firstName: 'Zebedee', tags: ['only here'] });
  expect((await remove(id)).status).toBe(204);
  for (const again of [await get(`/${id}`), await remove(id), await patch(id, { firstName: 'A' })])
    expect(again.status).toBe(404);
  expect((await get('?search=zebedee')).body.data).toEqual([]);
  expect((await get('?tag=only%20here')).body.data).toEqual([]);
  expect((await get('/tags')).body.data.map(({ tag }: { tag: string }) => tag)).not.toContain('only here');
  for (const table of ['contact_words', 'contact_tags']) {
    const [row] = await query(
      `SELECT COUNT(*) AS left_over FROM ${table} e LEFT JOIN contacts c ON c.id = e.contact_id WHERE c.id IS NULL`,
    );
    expect(row!['left_over']).toBe(0);
  }
  expect((await post({ number })).status).toBe(201);
});

test("another workspace's contact is not there", async () => {
  const { id } = await make(whole);
  const before = (await get(`/${id}`)).body;
  for (const answer of [
    await get(`/${id}`, other.key),
    await patch(id, { firstName: 'Eve' }, other.key),
    await remove(id, other.key),
    await get('/contact_0'),
  ])
    expect([answer.status, answer.body.type]).toEqual([404, expect.stringMatching(/not_found$/)]);
  expect((await get(`/${id}`)).body).toEqual(before);
});

test('a repeated request with its Idempotency-Key makes one contact', async () => {
  const request = () =>
    api.request('POST', '/v2/contacts', {
      key: own.key,
      headers: { 'idempotency-key': 'one-contact' },
      body: { number: '07400 905555' },
    });
  const [first, again] = [await request(), await request()];
  expect([again.status, again.body]).toEqual([201, first.body]);
});
