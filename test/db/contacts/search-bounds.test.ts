// @slow: it searches among thousands of contacts.
import { beforeAll, expect, test } from 'vitest';
import type { ListedPage } from '../../../shared/db/client/listing.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { type ContactRecord, insertContacts } from '../../../shared/db/contacts/contacts.ts';
import { listContactIdsAfter, listContacts, mostCompared } from '../../../shared/db/contacts/search.ts';
import * as contactFilter from '../../../shared/domain/contacts/filter.ts';
import { newId } from '../../../shared/formats/ids.ts';
import type { ContactFilter } from '../../../shared/schemas/contacts.ts';
import { contactRecord } from '../../support/data/contact-record.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';

useDatabase();

/** The workspace of an address book that is made to be slow to search. */
const own = newId('workspace', new Date());
const many = 12_000;
const limit = 50;
/** Most rows and index entries that a page may read, for any search and any number of contacts. */
const mostRows = 250_000;
/** More words than a search looks up in the index. */
const shared = 'aa bb cc dd ee ff gg hh ii jj kk ll';
const long = 'x'.repeat(60);
const book: ContactRecord[] = [];

beforeAll(async () => {
  for (let index = 0; index < many; index += 1)
    book.push(
      contactRecord(index, {
        firstName: 'aa bb cc dd ee ff',
        lastName: 'gg hh ii jj kk ll',
        company: `${index % 2 === 0 ? 'even' : 'odd'} ${index < many / 2 ? 'old' : 'new'} ${index % 4_001 === 5 ? 'zz' : ''}`,
        // Longer than the index holds; the addresses differ only after the indexed part.
        email: `${long}${long}${index}@example.com`,
        clientReference: index % 4_001 === 5 ? 'Ref' : 'ref',
      }),
    );
  for (let first = 0; first < many; first += 5_000)
    await transaction(() => insertContacts(own, book.slice(first, first + 5_000)));
  await query('ANALYZE TABLE contacts, contact_words');
});

const idsOf = (records: { id: string }[]) => records.map(({ id }) => id);

// Shows A61
test.each<[string, ContactFilter]>([
  ['words of all, and one more that hardly any have', { search: `${shared} zz` }],
  ['words of all, and one that nobody has', { search: `${shared} yy` }],
  ['words of all that nobody has together', { search: `${shared} odd even` }],
  ['two words that never meet', { search: 'odd even' }],
  ['two words that are far apart', { search: 'old new' }],
  ['two that meet in half of the contacts, all of them old', { search: 'ev ol' }],
  ['a word of old ones alone', { search: 'old' }],
  ['a reference that differs by its case alone', { clientReference: 'Ref' }],
  ['what differs only behind what the index holds', { search: `${long}${long}19` }],
  ['that, and words of all', { search: `${shared} ${long}${long}77` }],
  ['many short words', { search: [...'abcdefghijklmnopqrstuvwxyz'].join(' ') }],
  ['signs and digits', { search: '7 0 1 4 + - aa' }],
])('each page by %s costs no more than any other, and together they are complete', async (_, filter) => {
  const compiled = contactFilter.compile(filter);
  const expected = idsOf(book.filter(compiled.matches)).toReversed();
  const seen: string[] = [];
  let pages = 0;
  for (let before: string | null = null; ; pages += 1) {
    let page: ListedPage<ContactRecord> | undefined;
    const rows = await rowsRead(async () => {
      page = await listContacts(own, compiled, { limit, before });
    });
    expect(rows).toBeLessThanOrEqual(mostRows);
    expect(page!.records.length).toBeLessThanOrEqual(limit);
    seen.push(...idsOf(page!.records));
    before = page!.reached;
    // More pages would show nothing new.
    if (before === null || seen.length > 5 * limit) break;
  }
  expect(seen).toEqual(expected.slice(0, seen.length > 5 * limit ? seen.length : undefined));
  // Each page has read as far as one page may.
  expect(pages).toBeLessThanOrEqual(Math.ceil(many / mostCompared) + 6);
});

test('to go through all that match, for a copy or a count, costs as little at each step', async () => {
  for (const filter of [{ search: `${shared} zz` }, { clientReference: 'Ref' }]) {
    const compiled = contactFilter.compile(filter);
    const found: string[] = [];
    let after: string | null = null;
    do {
      let step: Awaited<ReturnType<typeof listContactIdsAfter>> | undefined;
      const rows = await rowsRead(async () => {
        step = await listContactIdsAfter(own, compiled, after, 1_000);
      });
      expect(rows).toBeLessThanOrEqual(mostRows);
      found.push(...step!.ids);
      after = step!.reached;
    } while (after !== null);
    expect(found).toEqual(idsOf(book.filter(compiled.matches)));
  }
});
