import type { Page } from '../../db/client/listing.ts';
import type { CursorBinding } from './cursors.ts';
import { searchedPage } from './keyset-pages.ts';

const longestPageBytes = 4_000_000;

type Long = { id: string; length: number };

/** The ids of a page whose records have long texts: it has at least one, and ends where it would be too long to bear. */
export const pageOfLong = (
  binding: CursorBinding,
  page: { limit: number; cursor?: string | undefined },
  list: (page: Page) => Promise<Long[]>,
): Promise<{ items: string[]; nextCursor: string | null }> =>
  searchedPage(binding, page, async ({ limit, before }) => {
    // One more than the page tells whether there is another.
    const found = await list({ limit: limit + 1, before });
    let length = 0;
    const end = found.findIndex((item, index) => {
      length += item.length;
      return index === limit || (index > 0 && length > longestPageBytes);
    });
    const ids = found.slice(0, end < 0 ? found.length : end).map(({ id }) => id);
    return { records: ids, reached: end < 0 ? null : ids.at(-1)! };
  });
