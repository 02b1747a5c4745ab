import { LRUCache } from 'lru-cache';

const parsed = new LRUCache<string, URL>({ max: 1_000 });

/**
 * Parses a URL that is used again and again, such as a webhook's. Callers share the result, and must not change it.
 * Throws like `new URL` for a text that is no URL.
 */
export function parsedUrl(text: string): Readonly<URL> {
  const known = parsed.get(text);
  if (known) return known;
  const url = new URL(text);
  parsed.set(text, url);
  return url;
}
