import type { Page } from '../../db/client/listing.ts';
import type { PageQuery } from '../../schemas/fields.ts';
import type { CursorBinding } from './cursors.ts';
import { type CursorPage, mapPage, searchedPage } from './keyset-pages.ts';

const longestPageBytes = 4_000_000;

type Long = { id: string; length: number };

/** Returns the ids of a page of records with long texts. A page has at least one, and ends before it gets too long. */
export const pageOfLong = (
  binding: CursorBinding,
  page: PageQuery,
  list: (page: Page) => Promise<Long[]>,
): Promise<CursorPage<string>> =>
  mapPage(
    searchedPage(binding, page, async (range) => {
      const found = await list(range);
      let length = 0;
      const end = found.findIndex((item, index) => {
        length += item.length;
        return index > 0 && length > longestPageBytes;
      });
      const records = end < 0 ? found : found.slice(0, end);
      return { records, reached: end < 0 ? null : records.at(-1)!.id };
    }),
    (records) => records.map(({ id }) => id),
  );
