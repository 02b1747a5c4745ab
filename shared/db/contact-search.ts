import { findCount } from './contact-entries.ts';
import {
  countEntries,
  countMeeting,
  meet,
  type Place,
  type Range,
  type Source,
  type Step,
  scan,
  sources,
  type Term,
  walk,
} from './contact-ranges.ts';
import { type ContactRecord, listContactsByIds } from './contacts.ts';

export type { Range, Source, Term };
/** The contacts that all terms find and that match; without terms it is all of them. */
export type Filter = {
  terms: Term[];
  /** What all terms find matches. */
  isExact: boolean;
  matches: (contact: ContactRecord) => boolean;
};

/** So many entries of an index are as good as none; so many are read and sorted in a millisecond, so many in ten. */
const hardlyAny = 100;
const few = 1_000;
const quiteFew = 10_000;
/** What it costs to read a contact somewhere, and to join an entry with those of other terms, beside reading an entry. */
const [contactCost, joinCost] = [60, 3];
const mostAtOnce = 2_000;

/** Newest first; `beforeId` is the id that the last page ended with. */
export async function listContacts(
  workspaceId: string,
  filter: Filter,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<ContactRecord[]> {
  const page = { from: beforeId, isRising: false, size: limit };
  if (filter.terms.length === 0) return (await scan(workspaceId, page)).found;
  const contacts: ContactRecord[] = [];
  for await (const found of search(workspaceId, filter, page)) {
    contacts.push(...found.filter(filter.matches));
    if (contacts.length >= limit) break;
  }
  return contacts.slice(0, limit);
}

/** Contacts that may match, in order: by an index where a term is rare in it, else by a look at the newest first. */
async function* search(workspaceId: string, filter: Filter, page: Place): AsyncGenerator<ContactRecord[]> {
  const { terms } = filter;
  const single = terms.length === 1 ? terms[0]! : null;
  // The entries of one key are in order of their ids already.
  if (single && isOneKey(single)) return yield* read(workspaceId, walks(workspaceId, single, page));
  const counts = await countEntries(workspaceId, terms, few + 1);
  const least = Math.min(...counts);
  if (least === 0) return;
  const rarest = terms[counts.indexOf(least)]!;
  if (least <= (single ? few : hardlyAny)) return yield* read(workspaceId, walks(workspaceId, rarest, page));
  const from = least <= few ? page.from : yield* look(workspaceId, filter, page);
  if (least > few && from === null) return;
  const rest = { ...page, from };
  yield* read(workspaceId, single ? walks(workspaceId, single, rest) : combine(workspaceId, terms, rest));
}

async function* read(workspaceId: string, steps: AsyncGenerator<string[]>): AsyncGenerator<ContactRecord[]> {
  for await (const ids of steps) yield await inOrder(workspaceId, ids);
}

async function* walks(
  workspaceId: string,
  term: Term,
  page: Place,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<string[], string | null> {
  let { from, size } = page;
  for (let step = 0; step < most; step += 1) {
    const { found, reached } = await walk(workspaceId, term, { ...page, from, size });
    yield found;
    if (reached === null) return null;
    from = reached;
    size = Math.max(size, Math.min(2 * size, mostAtOnce));
  }
  return from;
}

/** Of several terms, none of them rare: the contacts of one, to be compared, or those that all of them find. */
async function* combine(workspaceId: string, terms: Term[], page: Place): AsyncGenerator<string[]> {
  const counts = await countEntries(workspaceId, terms, quiteFew + 1);
  const least = Math.min(...counts);
  const isOneKnown = least <= quiteFew;
  let { from } = page;
  if (!counts.every((count) => count <= quiteFew) || (await isWalkCheaper(workspaceId, counts, page.size))) {
    // Of those that are not counted to the end, the longest key is the likeliest to be rare.
    const longest = Math.max(...terms.map(keyLength));
    const one = terms.find((term, index) =>
      isOneKnown ? counts[index] === least : keyLength(term) === longest,
    )!;
    const most = isOneKnown ? undefined : mostSteps;
    const reached = yield* walks(workspaceId, one, { ...page, size: 4 * page.size }, most);
    if (reached === null) return;
    from = reached;
  }
  for (;;) {
    const { found, reached }: Step<string> = await meet(workspaceId, terms, { ...page, from });
    yield found;
    if (reached === null) return;
    from = reached;
  }
}

// Terms of many contacts that hardly share any: what one of them finds is not compared for ever.
const mostSteps = 3;

/** Whether comparing what the rarest term finds costs less than joining all that they find. */
async function isWalkCheaper(workspaceId: string, counts: number[], size: number): Promise<boolean> {
  const all = Math.max(1, await findCount(workspaceId, ''));
  const [least, ...others] = counts.toSorted((one, other) => one - other);
  const shareOfOthers = others.reduce((product, count) => product * Math.min(1, count / all), 1);
  const compared = Math.min(least!, size / shareOfOthers);
  const sum = counts.reduce((total, count) => total + count, 0);
  return least! + compared * contactCost < sum * joinCost;
}

function isOneKey([range, ...others]: Term): boolean {
  return others.length === 0 && !range!.isPrefix;
}

function keyLength(term: Term): number {
  return Math.min(...term.map(({ key }) => key.length));
}

const mostLooked = 5_000;

/**
 * Looks at the newest contacts for as long as a page seems to be found among a few thousand of them. Returns where it has
 * come to; null: there is no more.
 */
async function* look(
  workspaceId: string,
  filter: Filter,
  page: Place,
): AsyncGenerator<ContactRecord[], string | null> {
  let { from } = page;
  let [looked, matching] = [0, 0];
  for (let size = 2 * page.size; looked + size <= mostLooked; ) {
    const { found, reached } = await sweep(workspaceId, filter, { ...page, from, size });
    yield found;
    if (reached === null) return null;
    from = reached;
    looked += size;
    matching += found.filter(filter.matches).length;
    size = Math.ceil((1.2 * looked * page.size) / Math.max(1, matching)) - looked;
  }
  return from;
}

/** All contacts in turn, or, where a term is one key, those that it finds. */
async function sweep(workspaceId: string, { terms }: Filter, place: Place): Promise<Step<ContactRecord>> {
  const ordered = terms.find(isOneKey);
  return ordered ? walkAndRead(workspaceId, ordered, place) : scan(workspaceId, place);
}

async function inOrder(workspaceId: string, ids: string[]): Promise<ContactRecord[]> {
  const records = new Map<string, ContactRecord>();
  for (const record of await listContactsByIds(workspaceId, ids)) records.set(record.id, record);
  return ids.flatMap((id) => records.get(id) ?? []);
}

/**
 * The next of the contacts, oldest first, for work that goes through all of them: at most `limit`, and perhaps none.
 * It goes on from `reached`, until that is null.
 */
export async function listContactIdsAfter(
  workspaceId: string,
  filter: Filter,
  afterId: string | null,
  limit: number,
): Promise<{ ids: string[]; reached: string | null }> {
  const { terms, matches } = filter;
  const place = { from: afterId, isRising: true, size: limit };
  const counts = terms.length === 0 ? [] : await countEntries(workspaceId, terms, quiteFew + 1);
  const least = Math.min(...counts);
  const { found, reached } =
    least <= quiteFew
      ? await walkAndRead(workspaceId, terms[counts.indexOf(least)]!, place)
      : await sweep(workspaceId, filter, place);
  return { ids: found.filter(matches).map(({ id }) => id), reached };
}

async function walkAndRead(workspaceId: string, term: Term, place: Place): Promise<Step<ContactRecord>> {
  const { found, reached } = await walk(workspaceId, term, place);
  return { found: await inOrder(workspaceId, found), reached };
}

/** How many contacts match; no more than `cap` are counted. */
export async function countContacts(
  workspaceId: string,
  filter: Filter,
  cap = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  const { terms } = filter;
  if (terms.length === 0) return Math.min(cap, await findCount(workspaceId, ''));
  const [first] = terms[0]!;
  if (terms.length === 1 && first!.source === 'tag')
    return Math.min(cap, await findCount(workspaceId, first!.key));
  if (!isExact(filter)) return countByReading(workspaceId, filter, cap);
  return countMeeting(workspaceId, terms, cap);
}

function isExact({ terms, isExact }: Filter): boolean {
  return isExact && terms.flat().every(({ source, key }) => Buffer.byteLength(key) <= sources[source].bytes);
}

async function countByReading(workspaceId: string, filter: Filter, cap: number): Promise<number> {
  let count = 0;
  let after: string | null = null;
  do {
    const { ids, reached }: { ids: string[]; reached: string | null } = await listContactIdsAfter(
      workspaceId,
      filter,
      after,
      mostAtOnce,
    );
    count += ids.length;
    after = reached;
  } while (after !== null && count < cap);
  return Math.min(count, cap);
}
