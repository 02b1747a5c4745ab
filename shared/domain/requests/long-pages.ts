import type { Page } from '../../db/client/listing.ts';
import type { CursorBinding } from './cursors.ts';
import { type CursorPage, searchedPage } from './keyset-pages.ts';

const longestPageBytes = 4_000_000;

type Long = { id: string; length: number };

/** Returns the ids of a page of records with long texts. A page has at least one, and ends before it gets too long. */
export const pageOfLong = (
  binding: CursorBinding,
  page: { limit: number; cursor?: string | undefined },
  list: (page: Page) => Promise<Long[]>,
): Promise<CursorPage<string>> =>
  searchedPage(binding, page, async ({ limit, before }) => {
    // One record more than the page tells whether there is another page.
    const found = await list({ limit: limit + 1, before });
    let length = 0;
    const end = found.findIndex((item, index) => {
      length += item.length;
      return index === limit || (index > 0 && length > longestPageBytes);
    });
    const ids = found.slice(0, end < 0 ? found.length : end).map(({ id }) => id);
    return { records: ids, reached: end < 0 ? null : ids.at(-1)! };
  });
