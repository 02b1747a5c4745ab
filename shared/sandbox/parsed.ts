import { getHeapStatistics } from 'node:v8';
import { LRUCache } from 'lru-cache';
import * as liquid from '../formats/templates/liquid.ts';

const openParsed = () =>
  new LRUCache<string, liquid.Template>({
    max: 500,
    maxSize: 10_000_000,
    sizeCalculation: (_template, source) => Math.max(1, source.length),
  });
const parsed = { true: openParsed(), false: openParsed() };
const largestHeapBytes = 48_000_000;

/** The template of a source: parsed when this thread first meets it, in `stop` milliseconds, or a TemplateError is thrown. */
export function template(
  { source, escape }: { source: string; escape: boolean },
  stop: number,
): liquid.Template {
  const found = parsed[`${escape}`].get(source);
  if (found) return found;
  const made = liquid.parse(source, escape, liquid.limitsOf(stop));
  parsed[`${escape}`].set(source, made);
  // The same length of source takes 2 or 200 bytes a character once parsed.
  if (getHeapStatistics().used_heap_size > largestHeapBytes) {
    parsed.true.clear();
    parsed.false.clear();
  }
  return made;
}
