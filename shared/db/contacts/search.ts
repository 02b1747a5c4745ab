import type { ListedPage, Page } from '../client/listing.ts';
import { type ContactRecord, listContactsByIds } from './contacts.ts';
import { findCount } from './entries.ts';
import {
  countMeeting,
  findWindow,
  type IndexSource,
  meet,
  type Range,
  type ScanPage,
  type Step,
  scan,
  sources,
  type Term,
  walk,
} from './ranges.ts';
import { hardlyAny, measure, measureBroad, mostRead, type Sized, worthReading } from './sizes.ts';

/** Searches and counts contacts along the indexes of ranges.ts, for listings and dynamic lists. */

export type { IndexSource as Source, Range, Term };
/** A search for contacts that all terms find and that `matches` accepts. Without terms, all contacts are compared. */
export type ContactSearch = {
  terms: Term[];
  /** Each contact that all terms find is a match. */
  isExact: boolean;
  matches: (contact: ContactRecord) => boolean;
};

/** How many contacts are compared for one page, and how many of them at a time. */
export const mostCompared = 1_500;
const comparedAtOnce = 500;

/**
 * Returns a page of matches, newest first. The work for a page has a limit, whatever the search and the number of
 * contacts: a page that reaches the limit is short or empty, and the next page continues from there.
 */
export async function listContacts(
  workspaceId: string,
  filter: ContactSearch,
  { limit, before }: Page,
): Promise<ListedPage<ContactRecord>> {
  const records: ContactRecord[] = [];
  let reached = before;
  let compared = 0;
  const page = { from: before, isRising: false, size: limit };
  for await (const scan of search(workspaceId, filter, page)) {
    records.push(...scan.matching.slice(0, limit - records.length));
    if (records.length === limit) return { records, reached: records.at(-1)!.id };
    reached = scan.reached;
    compared += scan.compared;
    if (reached === null || compared >= mostCompared) break;
  }
  return { records, reached };
}

/** Some contacts in turn, and which of them match. */
type Scan = { matching: ContactRecord[]; compared: number; reached: string | null };
type Scans = AsyncGenerator<Scan>;

function compare({ matches }: ContactSearch, { found, reached }: Step<ContactRecord>): Scan {
  return { matching: found.filter(matches), compared: found.length, reached };
}

const nothingMore: Scan = { matching: [], compared: 0, reached: null };

/** Searches along an index where a term is rare; otherwise it looks at the newest contacts first. */
async function* search(workspaceId: string, filter: ContactSearch, page: ScanPage): Scans {
  const { terms } = filter;
  const single = terms.length === 1 ? terms[0]! : null;
  // The entries of one key are in order of their ids already.
  if (!terms.length || (single && isOneKey(single))) return yield* sweeps(workspaceId, filter, page);
  // The longest word comes first. If it is rare, the other words need no count, and counting them may take long: an
  // email, for example, also has words that many contacts have.
  const longest = await measure(workspaceId, terms.slice(0, 1));
  const rare = smallest(longest);
  if (rare && !single && rare.entries <= hardlyAny)
    return yield* read(workspaceId, filter, [rare.term], page);
  const sized = single ? longest : [...longest, ...(await measure(workspaceId, terms.slice(1)))];
  const least = smallest(sized);
  if (least?.entries === 0) return yield nothingMore;
  if (least && (single || least.entries <= hardlyAny))
    return yield* read(workspaceId, filter, [least.term], page);
  if (least) return yield* read(workspaceId, filter, await worthReading(workspaceId, sized, page.size), page);
  let { from } = page;
  for await (const scan of scanAhead(workspaceId, filter, page)) {
    yield scan;
    from = scan.reached;
  }
  if (from !== null) yield* searchBroad(workspaceId, filter, sized, { ...page, from });
}

function isOneKey([range, ...others]: Term): boolean {
  return others.length === 0 && !range!.isPrefix;
}

/** Searches where no term is small and the newest contacts did not fill the page. */
async function* searchBroad(
  workspaceId: string,
  filter: ContactSearch,
  broad: Sized[],
  page: ScanPage,
): Scans {
  const sized = await measureBroad(workspaceId, broad, { most: mostRead, byKey: true });
  const ordered = sized.filter(({ way }) => way === 'ordered').map(({ term }) => term);
  if (smallest(sized))
    yield* read(workspaceId, filter, await worthReading(workspaceId, sized, page.size), page);
  else if (ordered.length > 1) yield* readWindows(workspaceId, filter, ordered.slice(0, mostInWindow), page);
  else if (ordered.length === 1) yield* readOrdered(workspaceId, filter, ordered[0]!, page);
  else yield* sweeps(workspaceId, filter, page);
}

/** Yields the matches of all of these small terms. */
async function* read(workspaceId: string, filter: ContactSearch, terms: Term[], page: ScanPage): Scans {
  const place = { ...page, size: idsFor(filter, terms, page) };
  const isOnePage = place.size === page.size && terms.length === 1;
  const step = await (isOnePage ? walk(workspaceId, terms[0]!, place) : meet(workspaceId, terms, place));
  yield* inPieces(workspaceId, filter, step, page);
}

/** Returns how many ids to read: a page if each contact that the terms find matches, else as many as are compared. */
function idsFor(filter: ContactSearch, terms: Term[], page: ScanPage): number {
  return isExact(filter) && terms.length === filter.terms.length ? page.size : mostCompared;
}

/** The most ids that are read from several keys and then put in one order here. */
const mostIds = 10_000;

async function* readOrdered(workspaceId: string, filter: ContactSearch, term: Term, page: ScanPage): Scans {
  const size = Math.min(idsFor(filter, [term], page), shareOfKey([term], mostIds));
  yield* inPieces(workspaceId, filter, await walk(workspaceId, term, { ...page, size }), page);
}

/** Returns how many entries of each key may be read, so that all keys together have at most `entries`. */
function shareOfKey(terms: Term[], entries: number): number {
  return Math.floor(entries / terms.flat().filter(({ isPrefix }) => !isPrefix).length);
}

const windowsOfPage = 2;
// Each term makes the windows smaller. Words come longest first, and the longest are likeliest to be rare.
const mostInWindow = 3;

/** Yields the matches of all of these terms, window by window, because none of the terms is small. */
async function* readWindows(
  workspaceId: string,
  filter: ContactSearch,
  terms: Term[],
  page: ScanPage,
): Scans {
  const size = shareOfKey(terms, mostRead / windowsOfPage);
  let { from } = page;
  for (let count = 0; count < windowsOfPage; count += 1) {
    const window = await findWindow(workspaceId, terms, { from, size });
    if (!window) return yield nothingMore;
    const place = { ...page, ...window, size: idsFor(filter, terms, page) };
    const step = await meet(workspaceId, terms, place);
    yield* inPieces(workspaceId, filter, step, page);
    if (step.reached === null) return;
    from = step.reached;
  }
}

/** Reads and compares the contacts with these ids, in pieces that grow up to `comparedAtOnce`. */
async function* inPieces(
  workspaceId: string,
  filter: ContactSearch,
  { found, reached }: Step<string>,
  page: ScanPage,
): Scans {
  let start = 0;
  for (let { size } = page; start + size < found.length; size = Math.min(2 * size, comparedAtOnce)) {
    const ids = found.slice(start, start + size);
    yield compare(filter, { found: await inOrder(workspaceId, ids), reached: ids.at(-1)! });
    start += size;
  }
  yield compare(filter, { found: await inOrder(workspaceId, found.slice(start)), reached });
}

const mostAhead = 1_500;

/** Reads the newest contacts, as long as they seem likely to fill the page before `mostAhead` are read. */
async function* scanAhead(workspaceId: string, filter: ContactSearch, page: ScanPage): Scans {
  let { from } = page;
  const ordered = filter.terms.find(isOneKey);
  let [compared, matching] = [0, 0];
  for (let size = 2 * page.size; compared + size <= mostAhead; ) {
    const scan: Scan = compare(filter, await readNext(workspaceId, ordered, { ...page, from, size }));
    yield scan;
    if (scan.reached === null) return;
    from = scan.reached;
    compared += size;
    matching += scan.matching.length;
    const missing = Math.ceil((1.2 * compared * page.size) / Math.max(1, matching)) - compared;
    if (compared + missing > mostAhead) return;
    size = Math.min(missing, comparedAtOnce);
  }
}

/** Reads all contacts or, where a term is one key, those that this term finds. */
async function* sweeps(workspaceId: string, filter: ContactSearch, page: ScanPage): Scans {
  const ordered = filter.terms.find(isOneKey);
  let [from, size] = [page.from, page.size];
  do {
    const scan: Scan = compare(filter, await readNext(workspaceId, ordered, { ...page, from, size }));
    yield scan;
    [from, size] = [scan.reached, comparedAtOnce];
  } while (from !== null);
}

/** Reads the next contacts that the term finds, or the next of all contacts where there is no term. */
async function readNext(
  workspaceId: string,
  term: Term | null | undefined,
  place: ScanPage,
): Promise<Step<ContactRecord>> {
  if (!term) return scan(workspaceId, place);
  const { found, reached } = await walk(workspaceId, term, place);
  return { found: await inOrder(workspaceId, found), reached };
}

async function inOrder(workspaceId: string, ids: string[]): Promise<ContactRecord[]> {
  const records = new Map((await listContactsByIds(workspaceId, ids)).map((record) => [record.id, record]));
  return ids.flatMap((id) => records.get(id) ?? []);
}

/**
 * Returns the next matching ids, oldest first, for work that goes through all of them: at most `limit`, perhaps none.
 * The caller continues from `reached` until `reached` is null.
 */
export async function listContactIdsAfter(
  workspaceId: string,
  filter: ContactSearch,
  afterId: string | null,
  limit: number,
): Promise<{ ids: string[]; reached: string | null }> {
  const place = { from: afterId, isRising: true, size: limit };
  const term = await findShortest(workspaceId, filter.terms);
  const { found, reached } = await readNext(workspaceId, term, place);
  return { ids: found.filter(filter.matches).map(({ id }) => id), reached };
}

/** Returns the term that is cheapest to read, in any order of entries; null: reading all contacts is as good. */
async function findShortest(workspaceId: string, terms: Term[]): Promise<Term | null> {
  if (terms.length === 0) return null;
  if (terms.length === 1 && isOneKey(terms[0]!)) return terms[0]!;
  let sized = await measure(workspaceId, terms);
  if (!smallest(sized)) sized = await measureBroad(workspaceId, sized, { most: mostRead, byKey: true });
  return (smallest(sized) ?? sized.find(({ way }) => way === 'ordered'))?.term ?? null;
}

function smallest(sized: Sized[]): Sized | undefined {
  const wholes = sized.filter(({ way }) => way === 'whole');
  return wholes.toSorted((one, other) => one.entries - other.entries)[0];
}

/** The most entries that are counted for an exact count, which is worth more work than a page is. */
const mostCounted = 60_000;

export type Count = { count: number; isEstimate: boolean };

/** Returns how many contacts match: exactly where the work has a limit, else estimated from the newest contacts. */
export async function countContacts(workspaceId: string, filter: ContactSearch): Promise<Count> {
  const { terms } = filter;
  const exactly = (count: number) => ({ count, isEstimate: false });
  if (terms.length === 0) return exactly(await findCount(workspaceId, ''));
  const [first] = terms[0]!;
  // The empty key, which no tag has, stands for a search that finds nothing; its count would be that of all contacts.
  if (terms.length === 1 && first!.source === 'tag' && first!.key !== '')
    return exactly(await findCount(workspaceId, first!.key));
  const sized = await measureBroad(workspaceId, await measure(workspaceId, terms), {
    most: mostCounted,
    byKey: false,
  });
  if (isExact(filter) && sized.every(({ way }) => way === 'whole'))
    return exactly(await countMeeting(workspaceId, terms));
  const page = { from: null, isRising: false, size: comparedAtOnce };
  const least = smallest(sized);
  const scans = least
    ? read(workspaceId, filter, [least.term], page)
    : sweeps(workspaceId, { ...filter, terms: [] }, page);
  let [matching, compared] = [0, 0];
  for await (const scan of scans) {
    matching += scan.matching.length;
    compared += scan.compared;
    if (scan.reached === null) return exactly(matching);
    if (compared >= mostCompared) break;
  }
  const all = least?.entries ?? (await findCount(workspaceId, ''));
  // At least one of the contacts that were not compared may match.
  return { count: Math.max(matching, 1, Math.round((matching / compared) * all)), isEstimate: true };
}

function isExact({ terms, isExact }: ContactSearch): boolean {
  return isExact && terms.flat().every(({ source, key }) => Buffer.byteLength(key) <= sources[source].bytes);
}
