import { Faults } from '../../common/faults.ts';
import type { ListedPage, Page } from '../../db/client/listing.ts';
import type { PageQuery } from '../../schemas/fields.ts';
import { type CursorBinding, decodeCursor, encodeCursor, readCursor } from './cursors.ts';

/** A page of a listing, and the cursor of the next page; null where there is none. */
export type CursorPage<Item> = { data: Item[]; nextCursor: string | null };

/** Returns the page with its items in another form. `to` takes all items, so that one query can read more for all. */
export async function mapPage<Item, Wire>(
  page: Promise<CursorPage<Item>>,
  to: (items: Item[]) => Wire[] | Promise<Wire[]>,
): Promise<CursorPage<Wire>> {
  const { data, nextCursor } = await page;
  return { data: await to(data), nextCursor };
}

/** Reads a page. One item more than the page is read: it tells whether there is another page. */
async function readPage<Item, Place>(
  limit: number,
  read: (limit: number) => Promise<{ records: Item[]; reached: Place | null }>,
  placeOf: (item: Item) => Place,
): Promise<{ records: Item[]; reached: Place | null }> {
  const found = await read(limit + 1);
  if (found.records.length <= limit) return found;
  const records = found.records.slice(0, limit);
  return { records, reached: placeOf(records.at(-1)!) };
}

/** Returns a page of a search in the order of ids, and the id after which the next page begins. */
export const searchPage = <Item extends { id: string }>(
  { limit, before }: Page,
  search: (page: Page) => Promise<ListedPage<Item>>,
): Promise<ListedPage<Item>> =>
  readPage(
    limit,
    (limit) => search({ limit, before }),
    ({ id }) => id,
  );

/**
 * Returns a page of a listing, with the cursor of the next. A page begins after the place of an item, so items that
 * are added meanwhile do not move it.
 */
export async function keysetPage<Item, Place extends object>(
  binding: CursorBinding,
  { limit, cursor }: PageQuery,
  read: (limit: number, after: Place | null) => Promise<Item[]>,
  placeOf: (item: Item) => Place,
): Promise<CursorPage<Item>> {
  const after = cursor ? decodeCursor<Place>(binding, cursor) : null;
  const page = readPage(
    limit,
    async (limit) => ({ records: await read(limit, after), reached: null as Place | null }),
    placeOf,
  );
  return toCursorPage(binding, await page);
}

/** Returns a page of a listing in the order of its ids. */
export const keysetPageById = <Item extends { id: string }>(
  binding: CursorBinding,
  page: PageQuery,
  read: (page: Page) => Promise<Item[]>,
): Promise<CursorPage<Item>> =>
  keysetPage(
    binding,
    page,
    (limit, after: { id: string } | null) => read({ limit, before: after?.id ?? null }),
    ({ id }) => ({ id }),
  );

/**
 * Returns a page of a listing that is searched in the order of its ids. The page may be short or empty, and still
 * another page may follow. `faults`: other faults of the request, which are reported together with a wrong cursor.
 */
export async function searchedPage<Item extends { id: string }>(
  binding: CursorBinding,
  { limit, cursor }: PageQuery,
  search: (page: Page) => Promise<ListedPage<Item>>,
  faults = new Faults(),
): Promise<CursorPage<Item>> {
  const before = readCursor<{ id: string }>(binding, cursor, faults.refuse)?.id ?? null;
  faults.throwAny();
  const { records, reached } = await searchPage({ limit, before }, search);
  return toCursorPage(binding, { records, reached: reached === null ? null : { id: reached } });
}

const toCursorPage = <Item>(
  binding: CursorBinding,
  { records, reached }: { records: Item[]; reached: object | null },
): CursorPage<Item> => ({ data: records, nextCursor: reached && encodeCursor(binding, reached) });
