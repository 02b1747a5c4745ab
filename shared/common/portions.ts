/** Yields the items in portions of at most `size`. */
export function* portionsOf<Item>(items: readonly Item[], size: number): Iterable<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
