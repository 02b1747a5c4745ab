import { beforeAll, expect, test } from 'vitest';
import type { ListedPage } from '../../../shared/db/client/listing.ts';
import { transaction } from '../../../shared/db/client.ts';
import { type ContactRecord, insertContacts } from '../../../shared/db/contacts/contacts.ts';
import { countContacts, listContactIdsAfter, listContacts } from '../../../shared/db/contacts/search.ts';
import * as contactFilter from '../../../shared/domain/contacts/filter.ts';
import { newId } from '../../../shared/formats/ids.ts';
import type { ContactFilter } from '../../../shared/schemas/contacts.ts';
import { contactRecord } from '../../support/data/contact-record.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';

useDatabase();

const own = newId('workspace', new Date());
const other = newId('workspace', new Date());
// More contacts than a search reads from an index before it turns to the newest contacts.
const many = 11_500;
const old = 10_200;
const limit = 50;
const book: ContactRecord[] = [];

beforeAll(async () => {
  for (let index = 0; index < many; index += 1)
    book.push(
      contactRecord(index, {
        firstName: index % 2 === 0 ? 'Ada' : 'Grace',
        lastName: `Name${index % 1000}`,
        company: index < old ? 'Old Works' : null,
        email: `person${index}@example.com`,
        clientReference: `REF-${index}`,
        tags: index % 100 === 0 ? ['few'] : ['most'],
      }),
    );
  await transaction(() => insertContacts(own, book));
  const theirs = book.slice(0, 2_000).map((one) => ({ ...one, id: newId('contact', new Date()) }));
  await transaction(() => insertContacts(other, theirs));
});

const lookUp = (filter: ContactFilter, before: string | null = null) =>
  listContacts(own, contactFilter.compile(filter), { limit, before });

test.each<[string, ContactFilter, number]>([
  ['no filter', {}, 100],
  ['a tag that few have', { tag: 'few' }, 200],
  ['a tag that most have', { tag: 'MOST' }, 200],
  ['a client reference', { clientReference: 'REF-77' }, 20],
  ['a rare word', { search: 'name777' }, 200],
  ['the start of several words', { search: 'name77' }, 1_000],
  ['an email', { search: 'person11499@example.com' }, 100],
  ['a reference', { search: 'ref-11499' }, 100],
  ['the last six digits', { search: '007919' }, 100],
  ['a number', { search: '+447100007919' }, 100],
  ['a number with spaces', { search: '+44 7100 007919' }, 4_000],
  ['a rare word and a common one', { search: 'ada name777' }, 3_000],
  ['words that many have', { search: 'ada name78' }, 25_000],
  ['a common word', { search: 'ada' }, 3_500],
  ['a word of all', { search: 'name' }, 3_500],
  ['a word of old ones alone', { search: 'old' }, 20_000],
  ['what is not there', { search: 'nobody' }, 50],
])('a page by %s reads few rows, on the first page and far behind', async (_, filter, most) => {
  for (const place of [null, book[many / 2]!.id])
    expect(await rowsRead(() => lookUp(filter, place))).toBeLessThanOrEqual(most);
});

test('a page far behind costs as much as the first', async () => {
  const behind = book[1_000]!.id;
  for (const filter of [{}, { tag: 'most' }, { search: 'ada' }]) {
    const [first, last] = [
      await rowsRead(() => lookUp(filter)),
      await rowsRead(() => lookUp(filter, behind)),
    ];
    expect(last).toBeLessThanOrEqual(first * 1.2 + 10);
  }
});

const idsOf = (records: { id: string }[]) => records.map(({ id }) => id);
const matching = (filter: ContactFilter) => idsOf(book.filter(contactFilter.compile(filter).matches));

test.each<ContactFilter>([
  {},
  { tag: 'few' },
  { tag: 'most', search: 'ada' },
  { tag: 'few', search: 'name' },
  { tag: 'most', search: 'old name' },
  { clientReference: 'REF-7' },
  { clientReference: 'ref-7' },
  { clientReference: 'REF-7', tag: 'most' },
  { search: 'ada' },
  { search: 'old' },
  { search: 'old name' },
  { search: 'ada old' },
  { search: 'ada name77' },
  { search: 'ada grace' },
  { search: 'grace name7 work old' },
  { search: '+44 7' },
  { search: '919' },
  { search: '7919' },
  { search: 'person1 ada' },
  { search: 'nobody' },
  { search: '´' },
])('%j finds by the indexes what comparing every contact finds', async (filter) => {
  const expected = matching(filter);
  const newestFirst = expected.toReversed();
  const pageAfter = (place: number) => {
    const ids = newestFirst.slice(place, place + limit);
    return { ids, reached: newestFirst.length > place + limit ? ids.at(-1) : null };
  };
  const found = async (before: string | null) => {
    const { records, reached } = await lookUp(filter, before);
    return { ids: idsOf(records), reached };
  };
  expect(await found(null)).toEqual(pageAfter(0));
  const middle = newestFirst.length >> 1;
  expect(await found(newestFirst[middle] ?? null)).toEqual(pageAfter(newestFirst.length && middle + 1));
  expect(await found(book[0]!.id)).toEqual({ ids: [], reached: null });

  const compiled = contactFilter.compile(filter);
  expect(await countContacts(own, compiled)).toEqual({ count: expected.length, isEstimate: false });
  expect(await allIds(filter)).toEqual(expected);
});

async function allIds(filter: ContactFilter): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const step: { ids: string[]; reached: string | null } = await listContactIdsAfter(
      own,
      contactFilter.compile(filter),
      after,
      3_000,
    );
    expect(step.ids.length).toBeLessThanOrEqual(3_000);
    ids.push(...step.ids);
    after = step.reached;
  } while (after !== null);
  return ids;
}

test.each([1, 7, 200])(
  'pages of %i that cross from the newest contacts into an index have no gap',
  async (size) => {
    for (const filter of [{ search: 'old' }, { search: 'old ada' }]) {
      const seen: string[] = [];
      let before: string | null = book[old + 20]!.id;
      for (let page = 0; page < 3; page += 1) {
        const found: ListedPage<ContactRecord> = await listContacts(own, contactFilter.compile(filter), {
          limit: size,
          before,
        });
        seen.push(...idsOf(found.records));
        before = found.reached;
      }
      expect(seen).toEqual(
        matching(filter)
          .toReversed()
          .slice(0, 3 * size),
      );
    }
  },
);
