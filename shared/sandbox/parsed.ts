import { getHeapStatistics } from 'node:v8';
import * as liquid from '../formats/templates/liquid.ts';

const largest = { templates: 500, sourceLength: 10_000_000, heapBytes: 48_000_000 };
const parsed = { true: new Map<string, liquid.Template>(), false: new Map<string, liquid.Template>() };
let sourceLength = 0;

/** The template of a source: parsed when this thread first meets it, in `stop` milliseconds, or a TemplateError is thrown. */
export function template(
  { source, escape }: { source: string; escape: boolean },
  stop: number,
): liquid.Template {
  const cache = parsed[`${escape}`];
  const found = cache.get(source);
  if (found) {
    // Re-inserted, so that the first key is the one not used for longest.
    cache.delete(source);
    cache.set(source, found);
    return found;
  }
  const made = liquid.parse(source, escape, liquid.limitsOf(stop));
  cache.set(source, made);
  sourceLength += source.length;
  while (isFull()) {
    const [oldest] = cache.keys();
    if (oldest === undefined) break;
    cache.delete(oldest);
    sourceLength -= oldest.length;
  }
  // The same length of source takes 2 or 200 bytes a character once parsed.
  if (getHeapStatistics().used_heap_size > largest.heapBytes) {
    parsed.true.clear();
    parsed.false.clear();
    sourceLength = 0;
  }
  return made;
}

function isFull(): boolean {
  return parsed.true.size + parsed.false.size > largest.templates || sourceLength > largest.sourceLength;
}
