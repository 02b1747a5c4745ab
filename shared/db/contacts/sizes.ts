import { findCount } from './entries.ts';
import { countEntries, type IndexSource, listKeys, type Range, type Term } from './ranges.ts';

/** How large the terms of a search are, measured with few look-ups however many contacts there are. */

/** `hardlyAny` entries of an index cost almost nothing; `few` entries are read and sorted in a millisecond. */
export const hardlyAny = 100;
export const few = 1_000;
/** The most entries that are counted of all terms at first, and the most that are read at a time. */
const mostCounted = 20_000;
export const mostRead = 30_000;
/** The costs of reading a contact, and of joining an entry with those of other terms; reading an entry costs 1. */
const [contactCost, joinCost] = [60, 3];

/** `isAll`: the range has no further entries. */
type RangeSize = { range: Range; entries: number; isAll: boolean };
/**
 * `whole`: the term has exactly `entries`, which are read together. `ordered`: the term has more entries, which can be
 * read in the order of their ids. `broad`: the term has more entries, which have no such order.
 */
export type Sized = { term: Term; counted: RangeSize[]; entries: number; way: 'whole' | 'ordered' | 'broad' };

/**
 * Measures the terms; every term that is not small counts as broad for now. The more ranges there are, the fewer
 * entries of each are counted.
 */
export async function measure(workspaceId: string, terms: Term[]): Promise<Sized[]> {
  const ranges = terms.flat();
  const each = Math.max(hardlyAny, Math.min(few, Math.floor(mostCounted / ranges.length)));
  const counts = (await count(workspaceId, ranges, each)).values();
  return terms.map((term) => sizeOf(term.map(() => counts.next().value!)));
}

// Many contacts have a word in common; hardly two have an email or a number.
const shared = new Set<IndexSource>([
  'firstName',
  'lastName',
  'company',
  'furtherWord',
  'tag',
  'clientReference',
]);
/** A prefix with more keys is not read key by key. */
const mostKeys = 20;

/**
 * Measures the broad terms again: counts up to `most` of their entries and, with `byKey`, replaces a prefix of few keys
 * by these keys.
 */
export async function measureBroad(
  workspaceId: string,
  sized: Sized[],
  { most, byKey }: { most: number; byKey: boolean },
): Promise<Sized[]> {
  const large = sized
    .flatMap(({ counted }) => counted.filter(({ isAll }) => !isAll))
    .map(({ range }) => range);
  const keys = await keysOf(workspaceId, byKey ? large : []);
  const rest = large.filter((range) => !keys.has(range));
  const recounted = new Map<Range, RangeSize>();
  for (const one of await count(workspaceId, rest, Math.floor(most / Math.max(1, rest.length))))
    recounted.set(one.range, one);
  return sized.map(({ counted }) =>
    sizeOf(
      counted.map((one) => recounted.get(one.range) ?? one),
      keys,
    ),
  );
}

/** Returns, for each range that has few keys, these keys as ranges of their own, each in the order of the ids. */
async function keysOf(workspaceId: string, ranges: Range[]): Promise<Map<Range, Range[]>> {
  const several = ranges.filter(({ source, isPrefix }) => isPrefix && shared.has(source));
  const found = await listKeys(workspaceId, several, mostKeys);
  const keys = new Map<Range, Range[]>();
  for (const range of ranges) if (!range.isPrefix) keys.set(range, [range]);
  for (const [place, range] of several.entries()) if (found[place]) keys.set(range, found[place]);
  return keys;
}

async function count(workspaceId: string, ranges: Range[], most: number): Promise<RangeSize[]> {
  const counts = await countEntries(workspaceId, ranges, most + 1);
  return ranges.map((range, place) => ({ range, entries: counts[place]!, isAll: counts[place]! <= most }));
}

function sizeOf(counted: RangeSize[], keys = new Map<Range, Range[]>()): Sized {
  const term = counted.flatMap(({ range, isAll }) => (isAll ? range : (keys.get(range) ?? range)));
  const entries = counted.reduce((sum, one) => sum + one.entries, 0);
  const isWhole = counted.every(({ isAll }) => isAll);
  const isOrdered = counted.every(({ range, isAll }) => isAll || keys.has(range));
  return { term, counted, entries, way: isWhole ? 'whole' : isOrdered ? 'ordered' : 'broad' };
}

/**
 * Returns the whole terms to read for a page: only the smallest, if comparing the contacts that it finds costs less
 * than joining it with the others.
 */
export async function worthReading(workspaceId: string, sized: Sized[], size: number): Promise<Term[]> {
  const wholes = sized.filter(({ way }) => way === 'whole');
  const [least, ...others] = wholes.toSorted((one, other) => one.entries - other.entries);
  const joined = [least!];
  let sum = least!.entries;
  for (const other of others) {
    if (sum + other.entries > mostRead) break;
    sum += other.entries;
    joined.push(other);
  }
  const all = Math.max(1, await findCount(workspaceId, ''));
  const share = others.reduce((product, { entries }) => product * Math.min(1, entries / all), 1);
  const compared = Math.min(least!.entries, size / share);
  const isLeastEnough = least!.entries + compared * contactCost < sum * joinCost;
  return (isLeastEnough ? [least!] : joined).map(({ term }) => term);
}
