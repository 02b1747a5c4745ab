import { getHeapStatistics } from 'node:v8';
import { LRUCache } from 'lru-cache';
import * as liquid from '../formats/templates/liquid.ts';
import type { PartFault } from './protocol.ts';

const openParsed = () =>
  new LRUCache<string, liquid.Template>({
    max: 500,
    maxSize: 10_000_000,
    sizeCalculation: (_template, source) => Math.max(1, source.length),
  });
const parsed = { true: openParsed(), false: openParsed() };
const largestHeapBytes = 48_000_000;

/**
 * Returns the template of a source. Parses it when this thread first meets it, within `stop` milliseconds, or throws a
 * TemplateError.
 */
export function template(
  { source, escape }: { source: string; escape: boolean },
  stop: number,
): liquid.Template {
  const found = parsed[`${escape}`].get(source);
  if (found) return found;
  const made = liquid.parse(source, escape, liquid.limitsOf(stop));
  parsed[`${escape}`].set(source, made);
  // The heap is measured, because a parsed source takes 2 or 200 bytes for each character.
  if (getHeapStatistics().used_heap_size > largestHeapBytes) {
    parsed.true.clear();
    parsed.false.clear();
  }
  return made;
}

/** Returns the fault that a TemplateError tells of; throws any other error. */
export function faultOf(
  error: unknown,
  parsing: boolean,
): { fault: Omit<PartFault, 'part'>; outOfTime: boolean } {
  if (!(error instanceof liquid.TemplateError)) throw error;
  const { message, line, column, outOfTime } = error;
  const place = line && column ? { line, column } : {};
  return { fault: { message, ...place, ...(parsing ? { parsing } : {}) }, outOfTime };
}
