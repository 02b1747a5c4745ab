import { LRUCache } from 'lru-cache';

/** `html` null: Liquid builds the structure of the source. */
type CompiledSource = { html: string | null };

/** Compiled sources by a key: as much as `largestLength` allows, the last used. */
export const openCompiled = (largestLength: number) =>
  new LRUCache<string, CompiledSource>({
    maxSize: largestLength,
    sizeCalculation: ({ html }) => 100 + (html?.length ?? 0),
  });
