const longestPageBytes = 4_000_000;

/**
 * The first of these that make a page of a bearable length, at least one, where one more than the limit was looked up to
 * know whether there is another page.
 */
export function pageOfLong(
  found: { id: string; length: number }[],
  limit: number,
): { ids: string[]; isLast: boolean } {
  let length = 0;
  const end = found.findIndex((item, index) => {
    length += item.length;
    return index === limit || (index > 0 && length > longestPageBytes);
  });
  const ids = found.slice(0, end < 0 ? found.length : end).map(({ id }) => id);
  return { ids, isLast: end < 0 };
}
