import { Faults } from '../../common/faults.ts';
import type { ListedPage, Page } from '../../db/client/listing.ts';
import { type CursorBinding, decodeCursor, encodeCursor, readCursor } from './cursors.ts';

type KeysetPage<Item> = { items: Item[]; nextCursor: string | null };

/**
 * Returns a page of a listing, with the cursor of the next. A page begins after the place of an item, so items that
 * are added meanwhile do not move it. One item more than the page is read: it tells whether there is another page.
 */
export async function keysetPage<Item, Place extends object>(
  binding: CursorBinding,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  read: (limit: number, after: Place | null) => Promise<Item[]>,
  placeOf: (item: Item) => Place,
): Promise<KeysetPage<Item>> {
  const found = await read(limit + 1, cursor ? decodeCursor<Place>(binding, cursor) : null);
  const items = found.slice(0, limit);
  const hasMore = found.length > limit;
  return { items, nextCursor: hasMore ? encodeCursor(binding, placeOf(items.at(-1)!)) : null };
}

/** Returns a page of a listing in the order of its ids. */
export const keysetPageById = <Item extends { id: string }>(
  binding: CursorBinding,
  page: { limit: number; cursor?: string | undefined },
  read: (page: Page) => Promise<Item[]>,
): Promise<KeysetPage<Item>> =>
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
): Promise<KeysetPage<Item>> {
  const before = readCursor<{ id: string }>(binding, cursor, faults.refuse)?.id ?? null;
  faults.throwAny();
  const { records, reached } = await search({ limit, before });
  return { items: records, nextCursor: reached === null ? null : encodeCursor(binding, { id: reached }) };
}
