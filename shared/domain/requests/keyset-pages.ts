import { Faults } from '../../common/faults.ts';
import type { ListedPage, Page } from '../../db/client/listing.ts';
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

/**
 * Returns a page of a listing, with the cursor of the next. A page begins after the place of an item, so items that
 * are added meanwhile do not move it. One item more than the page is read: it tells whether there is another page.
 */
export async function keysetPage<Item, Place extends object>(
  binding: CursorBinding,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  read: (limit: number, after: Place | null) => Promise<Item[]>,
  placeOf: (item: Item) => Place,
): Promise<CursorPage<Item>> {
  const found = await read(limit + 1, cursor ? decodeCursor<Place>(binding, cursor) : null);
  const data = found.slice(0, limit);
  const hasMore = found.length > limit;
  return { data, nextCursor: hasMore ? encodeCursor(binding, placeOf(data.at(-1)!)) : null };
}

/** Returns a page of a listing in the order of its ids. */
export const keysetPageById = <Item extends { id: string }>(
  binding: CursorBinding,
  page: { limit: number; cursor?: string | undefined },
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
export async function searchedPage<Item>(
  binding: CursorBinding,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  search: (page: Page) => Promise<ListedPage<Item>>,
  faults = new Faults(),
): Promise<CursorPage<Item>> {
  const before = readCursor<{ id: string }>(binding, cursor, faults.refuse)?.id ?? null;
  faults.throwAny();
  const { records, reached } = await search({ limit, before });
  return { data: records, nextCursor: reached === null ? null : encodeCursor(binding, { id: reached }) };
}
