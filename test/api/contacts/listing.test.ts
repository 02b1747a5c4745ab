import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let other: Awaited<ReturnType<typeof workspace>>;

const people = [
  {
    name: 'ada',
    number: '07700 900001',
    firstName: 'Ada',
    lastName: 'Lovelace',
    company: 'Analytical Engines',
    email: 'Ada.L@Example.com',
    clientReference: 'REF-1',
    tags: ['Vip', 'early'],
  },
  {
    name: 'grace',
    number: '07700 900002',
    firstName: 'Grace',
    lastName: 'Hopper',
    company: 'US Navy',
    email: 'grace@navy.example',
    clientReference: 'ref-1',
    tags: ['VIP'],
  },
  {
    name: 'obrien',
    number: '+1 213 373 4253',
    firstName: 'Seán',
    lastName: "O'Brien",
    company: 'AT&T',
    clientReference: 'Order 12 of 99',
  },
  {
    name: 'jean',
    number: '+33 6 12 34 56 78',
    firstName: 'Jean-Luc',
    lastName: 'Müller',
    company: 'Łódź Straßenbau GmbH',
    email: 'jl@müller.example',
  },
  { name: 'three', number: '020 7946 0018', firstName: '李雷', company: '3M', clientReference: '900' },
  {
    name: 'odd',
    number: '020 7946 0019',
    firstName: '100%',
    lastName: 'under_score',
    company: 'back\\slash',
    clientReference: 'CR-601',
    tags: ['100%', 'a_b'],
  },
];
const ids = new Map<string, string>();

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  other = await workspace();
  for (const { name, ...body } of people) {
    const answer = await api.request('POST', '/v2/contacts', { key: own.key, body });
    ids.set(answer.body.id, name);
    await api.request('POST', '/v2/contacts', { key: other.key, body });
  }
});

const list = (query: Record<string, string>, key = own.key) =>
  api.request('GET', `/v2/contacts?${new URLSearchParams(query).toString()}`, { key });
const names = async (query: Record<string, string>) => {
  const { status, body } = await list(query);
  expect(status).toBe(200);
  return body.data.map(({ id }: { id: string }) => ids.get(id));
};

test('without a filter it is all contacts of the workspace, newest first', async () => {
  expect(await names({})).toEqual(people.map(({ name }) => name).toReversed());
});

test.each([
  ['the start of a first name', 'ad', ['ada']],
  ['whatever its case', 'LOVE', ['ada']],
  ['the start of any word of the company', 'engine', ['ada']],
  ['no other part of a word', 'velace', []],
  ['all words, in any order', 'lovelace ada', ['ada']],
  ['each word being the start of one', 'analyt ad love', ['ada']],
  ['no contact that lacks a word', 'ada hopper', []],
  ['the start of an email', 'ada.l@', ['ada']],
  ['a whole email, whatever its case', 'ADA.L@EXAMPLE.COM', ['ada']],
  ['the domain of an email', 'navy.example', ['grace']],
  ['a label of domains', 'EXAMPLE', ['jean', 'grace', 'ada']],
  ['the end of a domain', 'com', ['ada']],
  ['a domain with an umlaut, without it', 'muller.ex', ['jean']],
  ['no other part of a word of an email', 'xample', []],
  ['a name and a domain', 'ada example.com', ['ada']],
  ['no name with the domain of another', 'ada navy.example', []],
  ['a further word of a reference', '99', ['obrien']],
  ['the number in a reference', '601', ['odd']],
  ['a reference and a domain', 'ref navy', ['grace']],
  ['a name with an email', 'hopper grace@navy', ['grace']],
  ['the start of a reference, whatever its case', 'ref-', ['grace', 'ada']],
  ['a reference with spaces', 'order 12', ['obrien']],
  ['without accents what has them', 'sean', ['obrien']],
  ['with accents what has none', 'adà', ['ada']],
  ['with an apostrophe', "o'b", ['obrien']],
  ['with another apostrophe', 'o’brien', ['obrien']],
  ['without the apostrophe', 'obrien', ['obrien']],
  ['the second half of a double name', 'luc', ['jean']],
  ['a double name', 'jean-luc mul', ['jean']],
  ['an umlaut', 'MÜLLER', ['jean']],
  ['letters that take two', 'strassen', ['jean']],
  ['letters with a stroke', 'lodz', ['jean']],
  ['signs between words', 'at&t', ['obrien']],
  ['letters of other scripts', '李', ['three']],
  ['a number as it is dialled at home', '07700 900001', ['ada']],
  ['the start of one', '0770', ['grace', 'ada']],
  ['an international number', '+44 7700 900002', ['grace']],
  ['one with a nought in brackets', '+44 (0)7700 900002', ['grace']],
  ['one with 00', '00447700900002', ['grace']],
  ['one without a sign', '447700', ['grace', 'ada']],
  ['the start of it', '+33', ['jean']],
  ['national numbers of other countries', '06 12', ['jean']],
  ['those without a nought', '(213) 373', ['obrien']],
  ['the last digits', '0001', ['ada']],
  ['more of the last digits', '900-001', ['ada']],
  ['not fewer than four last digits', '018', []],
  ['not the last digits after a sign', '+900001', []],
  ['digits in names and references too', '900', ['three']],
  ['digits in names', '3m', ['three']],
  ['a name and a number', 'ada 07700', ['ada']],
  ['nothing where nothing matches', 'zzz', []],
  ['no wildcard: %', '%', []],
  ['no wildcard: _', 'under_', ['odd']],
  ['no wildcard: a backslash', 'back\\', ['odd']],
  ['nothing by signs alone', '&', []],
  ['nothing by an accent alone', '´', []],
  ['all by blanks alone', '   ', people.map(({ name }) => name).toReversed()],
  ['the same with blanks around', '  ada  ', ['ada']],
])('search finds %s', async (_, search, expected) => {
  expect(await names({ search })).toEqual(expected);
});

test('a tag is matched whatever its case, and whole', async () => {
  expect(await names({ tag: 'vip' })).toEqual(['grace', 'ada']);
  expect(await names({ tag: ' VIP ' })).toEqual(['grace', 'ada']);
  expect(await names({ tag: 'vi' })).toEqual([]);
  expect(await names({ tag: '100%' })).toEqual(['odd']);
  expect(await names({ tag: 'a%b' })).toEqual([]);
});

test('a client reference is matched as it is written, and whole', async () => {
  expect(await names({ clientReference: 'REF-1' })).toEqual(['ada']);
  expect(await names({ clientReference: 'ref-1' })).toEqual(['grace']);
  expect(await names({ clientReference: 'REF' })).toEqual([]);
});

test('filters given together must all match', async () => {
  expect(await names({ tag: 'vip', search: '07700' })).toEqual(['grace', 'ada']);
  expect(await names({ tag: 'vip', search: '07700', clientReference: 'REF-1' })).toEqual(['ada']);
  expect(await names({ tag: 'early', search: 'grace' })).toEqual([]);
});

test.each(['', 'search=07700', 'tag=vip', 'search=0770&tag=vip'])(
  'pages of ?%s have no gaps and no repetition',
  async (filter) => {
    const all = (await api.request('GET', `/v2/contacts?${filter}`, { key: own.key })).body;
    expect(all.nextCursor).toBeNull();
    const seen: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await api.request(
        'GET',
        `/v2/contacts?${filter}&limit=1${cursor && `&cursor=${cursor}`}`,
        {
          key: own.key,
        },
      );
      expect(page.body.data.length).toBe(1);
      seen.push(...page.body.data);
      cursor = page.body.nextCursor;
    }
    expect(seen).toEqual(all.data);
  },
);

test('a cursor is good for its filter and its workspace only', async () => {
  const { nextCursor: cursor } = (await list({ search: '07700', limit: '1' })).body;
  for (const answer of [
    await list({ search: '0770', limit: '1', cursor }),
    await list({ cursor }),
    await list({ search: '07700', limit: '1', cursor }, other.key),
    await list({ search: '07700', cursor: `${cursor}x` }),
  ])
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['cursor']]);
});

test.each([
  ['limit', '0'],
  ['limit', '201'],
  ['limit', 'ten'],
  ['search', 'x'.repeat(201)],
  ['tag', 'x'.repeat(65)],
  ['clientReference', 'x'.repeat(129)],
  ['search', 'a\u0000'],
])('%s=%s is refused', async (name, value) => {
  const answer = await list({ [name]: value });
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [name]]);
});

// Shows A27
test('a search of many words, or of long ones, is answered', async () => {
  expect(await names({ search: 'ada '.repeat(50) })).toEqual(['ada']);
  expect(await names({ search: 'x '.repeat(100) })).toEqual([]);
  expect(await names({ search: 'é'.repeat(200) })).toEqual([]);
  expect(await names({ search: '1'.repeat(200) })).toEqual([]);
});
