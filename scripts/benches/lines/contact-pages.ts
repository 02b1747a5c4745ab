import { castOf } from '../cast.ts';
import { contactBatch, newOfBatch } from '../content.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, side } from '../line.ts';
import type { Book } from '../loaders/contacts.ts';
import type { Reading } from '../players/page-reader.ts';
import { openWindow } from '../usage.ts';

const fewContacts = 10_000;
const manyContacts = 1_000_000;
const pageRows = 50;
const deepPage = 10_000;
const connections = 2;
const measureMs = 3_000;
/** Contacts of other workspaces for each one of the large book. */
const othersPerContact = 5;
const filterOfAll = { search: 'person' };

async function open(bench: Bench, name: string, others: number): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, name);
  const loader = await cast.servant('loaders/contacts');
  const reader = await cast.servant('players/page-reader');
  await world.clear();
  const count = Math.max(2 * fewContacts, Math.round(manyContacts * scale));
  const [few, many] = [
    await loader.ask<Book>('book', { batches: fewContacts / newOfBatch }),
    await loader.ask<Book>('book', { batches: Math.round(count / newOfBatch) }),
  ];
  await loader.ask('copies', { workspaceId: many.workspaceId, times: others });
  await world.database.query('ANALYZE TABLE contacts, contact_words');
  const { web, port } = await cast.web();

  async function pages({ key }: Book, queries: Record<string, string>[]): Promise<Run> {
    type Read = { pages: number; ms: number; p50Ms: number; p99Ms: number; rows: number[] };
    const urls = queries.map(
      (query) =>
        `http://127.0.0.1:${port}/v2/contacts?${new URLSearchParams({ limit: String(pageRows), ...query }).toString()}`,
    );
    const ask = (ms: number) =>
      reader.ask<Read>('read', {
        urls,
        connections,
        ms,
        headers: { Authorization: `Bearer ${key}` },
      } satisfies Reading);
    await ask(1_000);
    const close = openWindow({ web: web.pid, reader: reader.pid, ...world.servers });
    const { pages, ms, rows, ...latency } = await ask(measureMs);
    const window = close();
    window.seconds = ms / 1000;
    // The rows that a search finds depend on how many contacts there are; a listing's page is full.
    const isListing = queries.every(({ search }) => search === undefined || search === filterOfAll.search);
    if (isListing) checkEqual('contacts on each page', [...new Set(rows)], [pageRows]);
    return { count: pages, window, latency, content: '' };
  }

  const after = Math.min(deepPage * pageRows, count - 2 * pageRows);
  const deep = async (filter: Record<string, string>) => ({
    ...filter,
    cursor: await loader.ask<string>('cursor', { workspaceId: many.workspaceId, filter, after }),
  });
  const place = `after ${after} of ${count} contacts`;
  if (others > 0) {
    const all = searches(count);
    const kinds = ['start of a name', 'email', 'last six digits', 'client reference', 'nothing found'];
    const book = `of ${count} contacts beside ${others} times as many of others`;
    return {
      sides: kinds.map((kind, place) =>
        side(place === 0 ? 'platform' : kind, `${kind}, ${book}`, () =>
          pages(
            many,
            all.filter((_, index) => index % kinds.length === place),
          ),
        ),
      ),
      close: cast.stopAll,
    };
  }
  return {
    sides: [
      side('platform', `listing, ${place}`, async () => pages(many, [await deep({})])),
      side('first', `listing, first page of ${count}`, () => pages(many, [{}])),
      side('few', `listing, first page of ${fewContacts}`, () => pages(few, [{}])),
      side('search', `five searches in turn, first page of ${count}`, () => pages(many, searches(count))),
      side('search-few', `the same, of ${fewContacts}`, () => pages(few, searches(fewContacts))),
      side('search-deep', `a search that finds all, ${place}`, async () =>
        pages(many, [await deep(filterOfAll)]),
      ),
      side('search-first', 'the same, first page', () => pages(many, [filterOfAll])),
    ],
    close: cast.stopAll,
  };
}

/**
 * Returns searches by the start of a name, an email, the last six digits of a number, a reference, and a text that
 * nobody has.
 */
function searches(count: number): Record<string, string>[] {
  return Array.from({ length: 200 }, (_, index) => {
    const place = Math.floor((count / 200) * index);
    const contact = contactBatch(0, Math.floor(place / newOfBatch)).contacts[place % newOfBatch]!;
    const wanted = [
      contact.lastName.slice(0, 5),
      contact.email,
      contact.number.slice(-6),
      contact.clientReference,
      `nobody${index}`,
    ];
    return { search: wanted[index % wanted.length]! };
  });
}

export const contactPages: Line = {
  name: 'contact-pages',
  title: 'GET /v2/contacts, pages of 50, one web process',
  unit: 'pages',
  targets: { first: 0.9, few: 0.8 },
  notes: [`${connections} readers at once`],
  open: (bench) => open(bench, 'contact-pages', 0),
};

export const contactSearch: Line = {
  name: 'contact-search',
  title: 'GET /v2/contacts?search, by search term',
  unit: 'pages',
  targets: {},
  notes: [`${connections} readers at once. Target: under 150 ms. Filling the tables takes minutes.`],
  open: (bench) => open(bench, 'contact-search', othersPerContact),
};
