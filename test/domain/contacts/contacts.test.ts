import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Problem } from '../../../shared/common/errors.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { countContacts } from '../../../shared/db/contacts/search.ts';
import * as contactBatches from '../../../shared/domain/contacts/batches.ts';
import * as contacts from '../../../shared/domain/contacts/contacts.ts';
import * as contactFilter from '../../../shared/domain/contacts/filter.ts';
import * as contactTags from '../../../shared/domain/contacts/tags.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { ContactBatch, ContactChanges, NewContact } from '../../../shared/schemas/contacts.ts';
import type { Caller } from '../../../shared/schemas/scopes.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

/** An entry of the model: the address book as a plain list, oldest first, with its own copy of the rules. */
type Entry = { id: string; number: string; texts: Record<string, string | null>; tags: string[] };

const fields = ['firstName', 'lastName', 'company', 'email', 'clientReference'] as const;
const numbers = Array.from({ length: 8 }, (_, index) => `+44770090012${index}`);
const spellings = ['vip', 'VIP', 'Early', 'early', 'b'];

const number = fc
  .tuple(fc.constantFrom(...numbers), fc.boolean())
  .map(([e164, isNational]) => (isNational ? `0${e164.slice(3, 7)} ${e164.slice(7)}` : e164));
const text = fc.constantFrom(undefined, null, '', 'Ada', 'ada byron', 'Lovelace', 'Engines Ltd', 'b-1');
const texts = fc.record(Object.fromEntries(fields.map((name) => [name, text])));
const tags = fc.array(fc.constantFrom(...spellings, ' ', 'x'.repeat(65)), { maxLength: 4 });
const place = fc.nat(7);
const operation = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), number, texts, tags }),
  fc.record({
    kind: fc.constant('batch' as const),
    rows: fc.array(fc.tuple(fc.oneof(number, fc.constant('x')), texts), { minLength: 1, maxLength: 6 }),
  }),
  fc.record({
    kind: fc.constant('patch' as const),
    place,
    texts,
    number: fc.option(number),
    tags: fc.option(tags),
  }),
  fc.record({
    kind: fc.constant('tag' as const),
    places: fc.array(place, { minLength: 1, maxLength: 4 }),
    tags,
    removeTags: tags,
  }),
  fc.record({ kind: fc.constant('delete' as const), place }),
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

const e164Of = (written: string) =>
  written.startsWith('0') ? `+44${written.slice(1).replace(' ', '')}` : written;
const lower = (tag: string) => tag.toLowerCase();

function assign(entry: Entry, given: Record<string, string | null | undefined>): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === '') entry.texts[name] = null;
    else if (value != null) entry.texts[name] = value;
  }
}

function withTags(own: string[], added: string[]): string[] {
  const result = [...own];
  for (const tag of added)
    if (tag.trim() !== '' && tag.length <= 64 && !result.some((one) => lower(one) === lower(tag)))
      result.push(tag);
  return result.toSorted();
}

function newEntry(id: string, e164: string): Entry {
  return { id, number: e164, texts: Object.fromEntries(fields.map((name) => [name, null])), tags: [] };
}

/** Applies an operation to the platform and to the model; both must refuse the same operations. */
async function apply(caller: Caller, book: Entry[], done: Operation): Promise<void> {
  const isTaken = (e164: string, but?: Entry) => book.some((entry) => entry !== but && entry.number === e164);
  const at = (index: number) => book[index % Math.max(1, book.length)];
  if (done.kind === 'create') {
    const request = NewContact.parse({ number: done.number, ...done.texts, tags: done.tags });
    const made = await refusable(() => contacts.create(caller, request));
    const e164 = e164Of(done.number);
    if (isTaken(e164)) return expect(made).toBe('number_taken');
    const entry = newEntry(made.id, e164);
    assign(entry, done.texts);
    entry.tags = withTags([], done.tags);
    book.push(entry);
  } else if (done.kind === 'batch') {
    const prepared = await contactBatches.prepare(
      ContactBatch.parse({ contacts: done.rows.map(([written, given]) => ({ number: written, ...given })) }),
    );
    const outcome = await transaction(() => contactBatches.save(caller, prepared));
    const expected = { created: 0, updated: 0, errors: [] as number[] };
    for (const [index, [written, given]] of done.rows.entries()) {
      if (written === 'x') {
        expected.errors.push(index);
        continue;
      }
      let entry = book.find((one) => one.number === e164Of(written));
      if (entry) expected.updated += 1;
      else {
        entry = newEntry('', e164Of(written));
        book.push(entry);
        expected.created += 1;
      }
      assign(entry, given);
    }
    expect({ ...outcome, errors: outcome.errors.map(({ index }) => index) }).toEqual({
      ...expected,
      truncations: [],
    });
    const all = await contacts.list(caller, { limit: 200 });
    for (const entry of book) entry.id ||= all.data.find((one) => one.number === entry.number)!.id;
  } else if (done.kind === 'patch') {
    const entry = at(done.place);
    const request = ContactChanges.parse({ ...done.texts, number: done.number, tags: done.tags });
    const changed = await refusable(() =>
      contacts.update(caller, entry?.id ?? newId('contact', new Date()), request),
    );
    if (!entry) return expect(changed).toBe('not_found');
    const e164 = done.number === null ? entry.number : e164Of(done.number);
    if (isTaken(e164, entry)) return expect(changed).toBe('number_taken');
    assign(entry, done.texts);
    entry.number = e164;
    if (done.tags) entry.tags = withTags([], done.tags);
  } else if (done.kind === 'tag') {
    const named = new Set(done.places.flatMap((index) => at(index) ?? []));
    const ids = [...named].map(({ id }) => id);
    const request = { contactIds: [...ids, 'junk'], tags: done.tags, removeTags: done.removeTags };
    const outcome = await refusable(() => contactTags.change(caller, request));
    if (withTags([], [...done.tags, ...done.removeTags]).length === 0)
      return expect(outcome).toBe('validation_failed');
    expect(outcome).toEqual({ updated: named.size });
    for (const entry of named) {
      const kept = entry.tags.filter((tag) => !done.removeTags.map(lower).includes(lower(tag)));
      entry.tags = withTags(kept, done.tags);
    }
  } else {
    const entry = at(done.place);
    const gone = await refusable(() => contacts.remove(caller, entry?.id ?? newId('contact', new Date())));
    if (!entry) return expect(gone).toBe('not_found');
    book.splice(book.indexOf(entry), 1);
  }
}

async function refusable(work: () => Promise<any>): Promise<any> {
  try {
    return await transaction(work);
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

function isFound(entry: Entry, search: string): boolean {
  const wordsOf = fields.flatMap((name) => entry.texts[name]?.toLowerCase().split(/[ -]/) ?? []);
  const others = ['email', 'clientReference'].map((name) => entry.texts[name]?.toLowerCase() ?? '');
  const parts = search.split(' ');
  return (
    others.some((own) => own.startsWith(search)) ||
    parts.every((part) => [...wordsOf, ...others].some((own) => own.startsWith(part)))
  );
}

const searches = ['ada', 'b', 'love', 'engines l', 'ada b', 'ltd', '1 ada', 'none'];

test('any sequence of creating, batches, changes, tagging and deleting gives the address book that a plain list does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 10 }), async (operations) => {
      const caller = callerOf({ workspaceId: newId('workspace', new Date()), keyId: '' } as never);
      const book: Entry[] = [];
      for (const one of operations) await apply(caller, book, one);

      const expected = book.map(({ id, number: e164, texts: own, tags: named }) => ({
        id,
        number: e164,
        ...own,
        tags: named,
      }));
      const listed = await contacts.list(caller, { limit: 200 });
      expect(
        listed.data.map(({ country: _c, suppressed: _s, createdAt: _a, updatedAt: _u, ...rest }) => rest),
      ).toEqual(expected.toReversed());
      const keys = [...new Set(book.flatMap((entry) => entry.tags.map(lower)))].toSorted();
      const counts = keys.map((key) => ({
        tag: key,
        count: book.filter((entry) => entry.tags.some((tag) => lower(tag) === key)).length,
      }));
      const told = (await contactTags.list(caller, { limit: 200 })).data;
      expect(told.map(({ tag, count }) => ({ tag: lower(tag), count }))).toEqual(counts);
      for (const search of searches) {
        const found = await contacts.list(caller, { limit: 200, search });
        const ids = book.filter((entry) => isFound(entry, search)).map(({ id }) => id);
        expect([search, found.data.map(({ id }) => id)]).toEqual([search, ids.toReversed()]);
        expect(await countContacts(caller.workspaceId, contactFilter.compile({ search }))).toEqual({
          count: ids.length,
          isEstimate: false,
        });
      }
      const all = await countContacts(caller.workspaceId, contactFilter.compile({}));
      expect(all).toEqual({ count: book.length, isEstimate: false });
      await expectNothingLeftOver(caller.workspaceId);
    }),
    { numRuns: 25 },
  );
});

async function expectNothingLeftOver(workspaceId: string): Promise<void> {
  for (const table of ['contact_words', 'contact_tags']) {
    const rows = await query(
      `SELECT e.contact_id FROM ${table} e LEFT JOIN contacts c ON c.workspace_id = e.workspace_id AND c.id = e.contact_id
       WHERE e.workspace_id = ? AND c.id IS NULL`,
      [idToBytes(workspaceId)],
    );
    expect(rows).toEqual([]);
  }
}
