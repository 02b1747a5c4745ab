import { beforeAll, expect, test } from 'vitest';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
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

const change = (body: object, key = own.key) => api.request('POST', '/v2/contacts/tags', { key, body });
const tagsListed = (search = '', key = own.key) => api.request('GET', `/v2/contacts/tags${search}`, { key });
const find = async (id: string, key = own.key) =>
  (await api.request('GET', `/v2/contacts/${id}`, { key })).body;
let count = 0;
const make = async (tags: string[] = [], key = own.key): Promise<string> => {
  const number = `+447${String(600_000_000 + (count += 1))}`;
  return (await api.request('POST', '/v2/contacts', { key, body: { number, tags } })).body.id;
};
const unknown = 'contact_01h455vb4pex5vsknk084sn02q';

// Shows A17
test('tags are added and removed, whatever their case, and stay sorted; a tag that is there keeps its spelling', async () => {
  const [one, two] = [await make(['Vip', 'old']), await make()];
  const answer = await change({
    contactIds: [one, two, one],
    tags: [' vip ', 'Éclair', 'b', 'B', '', 'x'.repeat(65)],
    removeTags: ['OLD', 'not there'],
  });
  expect([answer.status, answer.body]).toEqual([200, { updated: 2 }]);
  expect((await find(one)).tags).toEqual(['Vip', 'b', 'Éclair']);
  expect((await find(two)).tags).toEqual(['b', 'vip', 'Éclair']);
  await change({ contactIds: [one, two], removeTags: ['éCLAIR', 'VIP'] });
  expect((await find(one)).tags).toEqual(['b']);
  expect((await find(two)).tags).toEqual(['b']);
});

test('a tag is given another spelling by removing and adding it', async () => {
  const id = await make(['vip']);
  await change({ contactIds: [id], tags: ['VIP'], removeTags: ['vip'] });
  expect((await find(id)).tags).toEqual(['VIP']);
});

test('a tag that is far longer when it is folded is added, found, counted and removed as every other', async () => {
  const mine = await workspace();
  // Each of these notes has twelve bytes when it is folded.
  const notes = '\u{1d160}'.repeat(63);
  const [one, two] = [await make([`${notes}A`, `${notes}b`], mine.key), await make([], mine.key)];
  const found = async (tag: string) => {
    const { body } = await api.request('GET', `/v2/contacts?tag=${encodeURIComponent(tag)}`, {
      key: mine.key,
    });
    const filter = { filter: { tag } };
    const preview = await api.request('POST', '/v2/contact-lists/preview', { key: mine.key, body: filter });
    expect(preview.body.count).toBe(body.data.length);
    return body.data.map(({ id }: { id: string }) => id);
  };
  await change({ contactIds: [one, two], tags: [`${notes}a`] }, mine.key);
  expect((await find(one, mine.key)).tags).toEqual([`${notes}A`, `${notes}b`]);
  expect([await found(`${notes}a`), await found(`${notes}B`)]).toEqual([[two, one], [one]]);
  expect([await found(notes), await found(`${notes}c`)]).toEqual([[], []]);
  expect(new Set((await tagsListed('', mine.key)).body.data)).toEqual(
    new Set([
      { tag: `${notes}A`, count: 2 },
      { tag: `${notes}b`, count: 1 },
    ]),
  );
  await change({ contactIds: [one, two], removeTags: [`${notes}a`] }, mine.key);
  expect([await found(`${notes}A`), await found(`${notes}b`)]).toEqual([[], [one]]);
  expect((await tagsListed('', mine.key)).body.data).toEqual([{ tag: `${notes}b`, count: 1 }]);
});

// Shows A2
test('updated counts the contacts that the ids name, changed or not; other ids are ignored', async () => {
  const [id, theirs] = [await make(['vip']), await make([], other.key)];
  const before = await find(id);
  await advanceClock(60_000);
  const answer = await change({ contactIds: [id, theirs, unknown, 'junk', ''], tags: ['vip'] });
  expect(answer.body).toEqual({ updated: 1 });
  expect(await find(id)).toEqual(before);
  expect((await find(theirs, other.key)).tags).toEqual([]);
  expect((await change({ contactIds: [unknown], tags: ['vip'] })).body).toEqual({ updated: 0 });
});

test.each([
  ['no tag', { contactIds: [unknown] }, ['tags', 'removeTags']],
  ['empty lists of tags', { contactIds: [unknown], tags: [], removeTags: [] }, ['tags', 'removeTags']],
  [
    'tags that are dropped',
    { contactIds: [unknown], tags: [' ', 'x'.repeat(65)], removeTags: null },
    ['tags', 'removeTags'],
  ],
  ['no contact', { contactIds: [], tags: ['vip'] }, ['contactIds']],
  ['no list of contacts', { tags: ['vip'] }, ['contactIds']],
  [
    '10,001 contacts',
    { contactIds: Array.from({ length: 10_001 }, () => unknown), tags: ['vip'] },
    ['contactIds'],
  ],
  ['an id that is no text', { contactIds: [5], tags: ['vip'] }, ['contactIds[0]']],
  ['a control character', { contactIds: [unknown], tags: ['a\u0000'] }, ['tags[0]']],
  [
    '101 tags',
    { contactIds: [unknown], tags: Array.from({ length: 101 }, (_, index) => `${index}`) },
    ['tags'],
  ],
])('%s is refused, naming the field', async (_, body, fields) => {
  const answer = await change(body);
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, fields]);
});

test('a contact has a hundred tags at the most: what would give it more changes nothing', async () => {
  const full = await make(Array.from({ length: 99 }, (_, index) => `tag ${index}`));
  const empty = await make();
  const answer = await change({ contactIds: [empty, full], tags: ['a', 'b'] });
  expect(answer.status).toBe(400);
  expect(answer.body.errors.tags[0]).toContain(full);
  expect((await find(empty)).tags).toEqual([]);
  const swap = await change({ contactIds: [empty, full], tags: ['a', 'b'], removeTags: ['tag 1'] });
  expect(swap.body).toEqual({ updated: 2 });
  expect((await find(full)).tags.length).toBe(100);
});

test('tags are listed in alphabetical order with how many contacts have them, a page at a time', async () => {
  const mine = await workspace();
  const ids = [];
  for (const tags of [['b', 'Vip'], ['vip', 'Éclair'], ['VIP', 'a'], []])
    ids.push(await make(tags, mine.key));
  const expected = [
    { tag: 'a', count: 1 },
    { tag: 'b', count: 1 },
    { tag: 'Vip', count: 3 },
    { tag: 'Éclair', count: 1 },
  ];
  const listed = async () => (await tagsListed('', mine.key)).body;
  expect(await listed()).toEqual({ data: expected, nextCursor: null });
  const seen: unknown[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Answer = await tagsListed(`?limit=1${cursor && `&cursor=${cursor}`}`, mine.key);
    seen.push(...page.body.data);
    cursor = page.body.nextCursor;
  }
  expect(seen).toEqual(expected);

  await change({ contactIds: ids, tags: ['all'], removeTags: ['vip', 'B'] }, mine.key);
  await api.request('DELETE', `/v2/contacts/${ids[1]}`, { key: mine.key });
  await api.request('PATCH', `/v2/contacts/${ids[2]}`, { key: mine.key, body: { tags: ['ALL', 'c'] } });
  expect((await listed()).data).toEqual([
    { tag: 'all', count: 3 },
    { tag: 'c', count: 1 },
  ]);
  expect((await tagsListed('', other.key)).body.data).toEqual([]);
});

test('ten thousand contacts are tagged in one request', async () => {
  const mine = await workspace();
  for (let batch = 0; batch < 10; batch += 1) {
    const contacts = Array.from({ length: 1000 }, () => ({ number: `+447${500_000_000 + (count += 1)}` }));
    await api.request('POST', '/v2/contacts/batch', { key: mine.key, body: { contacts } });
  }
  const ids: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await api.request('GET', `/v2/contacts?limit=200${cursor && `&cursor=${cursor}`}`, {
      key: mine.key,
    });
    ids.push(...page.body.data.map(({ id }: { id: string }) => id));
    cursor = page.body.nextCursor;
  }
  expect(new Set(ids).size).toBe(10_000);
  const tags = ['one', 'two', 'three'];
  expect((await change({ contactIds: ids, tags }, mine.key)).body).toEqual({ updated: 10_000 });
  const counts = (of: string[]) => of.toSorted().map((tag) => ({ tag, count: 10_000 }));
  expect((await tagsListed('', mine.key)).body.data).toEqual(counts(tags));
  await change({ contactIds: ids, removeTags: ['ONE', 'TWO'] }, mine.key);
  expect((await tagsListed('', mine.key)).body.data).toEqual(counts(['three']));
});

test('requests that tag the same contacts at once all succeed, and nothing is lost', async () => {
  const ids = [await make(), await make(), await make()];
  const names = Array.from({ length: 10 }, (_, index) => `at once ${index}`);
  const answers = await Promise.all(
    names.map((tag, index) => change({ contactIds: index % 2 === 0 ? ids : ids.toReversed(), tags: [tag] })),
  );
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
  for (const id of ids) expect((await find(id)).tags).toEqual(names);
});
