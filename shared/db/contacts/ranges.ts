import { startOf, tagKeyBytes } from '../../formats/folded-text.ts';
import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, hex, query } from '../client.ts';
import { type ContactRecord, contacts, textKeyBytes } from './contacts.ts';
import { wordBytes } from './entries.ts';

/** The indexes that contacts are found by, and the ways to read along them. Each step is one statement. */

/** A part of an index: the entries whose key begins with this one (`isPrefix`), or is exactly this one. */
export type Range = { source: IndexSource; key: string; isPrefix: boolean };
/** The contacts that any of its ranges finds. */
export type Term = Range[];

/** `bytes`: the length of the key column. A longer key is cut, so each contact that it finds has to be compared. */
export const sources = {
  firstName: column('contacts_first_name', 'first_name_word', wordBytes),
  lastName: column('contacts_last_name', 'last_name_word', wordBytes),
  company: column('contacts_company', 'company_word', wordBytes),
  furtherWord: entries('contact_words', 'word', wordBytes),
  tag: entries('contact_tags', 'tag_key', tagKeyBytes),
  email: column('contacts_email', 'email_key', textKeyBytes),
  clientReference: column('contacts_client_reference', 'client_reference_key', textKeyBytes),
  number: column('contacts_number', 'number', 20),
  national: column('contacts_national', 'national', 20),
  reversed: column('contacts_reversed', 'reversed', 20),
} as const;
export type IndexSource = keyof typeof sources;
type Index = { table: string; key: string; id: string; bytes: number };

function entries(table: string, key: string, bytes: number): Index {
  return { table: `${table} FORCE INDEX (PRIMARY)`, key, id: 'contact_id', bytes };
}

// Without FORCE INDEX the optimizer would read the newest contacts one by one in the hope of finding enough.
function column(index: string, key: string, bytes: number): Index {
  return { table: `contacts FORCE INDEX (${index})`, key, id: 'id', bytes };
}

/** `also` gets the name of the column of the id, and returns more conditions, an order or a limit. */
type Selected = { what?: string; also?: (id: string) => string };

/**
 * Returns a SELECT of the contact ids in a range, as the column `id`. The values are written into the text here: a
 * search has dozens of them, and finding their places in the text took a twentieth of the CPU time of web.
 */
function select({ source, key, isPrefix }: Range, workspace: string, { what, also }: Selected): string {
  const { table, key: column, id, bytes } = sources[source];
  const start = Buffer.from(startOf(key, bytes)).toString('hex');
  // UTF-8 has no byte ff, so the key with ff after it sorts after every text that begins with the key.
  const where = isPrefix
    ? `${column} >= X'${start}' AND ${column} < X'${start}ff'`
    : `${column} = X'${start}'`;
  return `SELECT ${what === undefined ? '' : `${what}, `}${id} AS id FROM ${table}
    WHERE workspace_id = ${workspace} AND ${where} ${also?.(id) ?? ''}`;
}

function union(statements: string[]): string {
  return statements.map((sql) => `(${sql})`).join(' UNION ALL ');
}

const idText = (id: string) => hex(idToBytes(id));

/**
 * `isRising`: oldest first, otherwise newest first. `from`: the id that the last step ended with. `downTo`: the last id
 * that is looked at.
 */
export type ScanPage = { from: string | null; downTo?: string | null; isRising: boolean; size: number };
/** The findings of a step, and the id after which the next step begins; null: there are no more. */
export type Step<Found> = { found: Found[]; reached: string | null };

/** Returns the conditions of a place on the column of the id. */
function bound({ from, downTo = null, isRising }: Omit<ScanPage, 'size'>): (id: string) => string {
  const after = from === null ? null : `${isRising ? '>' : '<'} ${idText(from)}`;
  const least = downTo === null ? null : `>= ${idText(downTo)}`;
  return (id) => [after, least].map((limit) => (limit === null ? '' : `AND ${id} ${limit}`)).join(' ');
}

/** Returns the conditions, the order and the limit of a place on the column of the id. */
function stepOf(place: ScanPage): (id: string) => string {
  const conditions = bound(place);
  return (id) => `${conditions(id)} ORDER BY ${id} ${directionOf(place)} LIMIT ${place.size}`;
}

/** Returns the next of all contacts, in the order of their ids. */
export async function scan(workspaceId: string, place: ScanPage): Promise<Step<ContactRecord>> {
  const found = contacts.toRecords(
    await query(
      `SELECT ${contacts.columns} FROM contacts ${byId}
     WHERE workspace_id = ${idText(workspaceId)} ${stepOf(place)('id')}`,
    ),
  );
  return { found, reached: found.length < place.size ? null : found.at(-1)!.id };
}

/** Returns the next ids that any range of the term finds, in the order of the ids. */
export async function walk(workspaceId: string, term: Term, place: ScanPage): Promise<Step<string>> {
  const [workspace, also] = [idText(workspaceId), stepOf(place)];
  const ranges = term.map((range, index) => select(range, workspace, { what: `${index} AS part`, also }));
  const found = term.map((): string[] => []);
  for (const row of await query<{ part: number; id: Buffer }[]>(union(ranges)))
    found[row.part]!.push(idFromBytes('contact', row.id));
  // A range that returns a full page may have more, so ids of other ranges beyond its last one belong to a later step.
  const ends = found.filter(({ length }) => length === place.size).map((ids) => inTurn(place, ids).at(-1)!);
  const reached = inTurn(place, ends)[0] ?? null;
  const ids = inTurn(place, [...new Set(found.flat())]);
  return { found: reached === null ? ids : ids.slice(0, ids.indexOf(reached) + 1), reached };
}

function inTurn({ isRising }: ScanPage, ids: string[]): string[] {
  const rising = ids.toSorted();
  return isRising ? rising : rising.toReversed();
}

function directionOf({ isRising }: ScanPage): string {
  return isRising ? 'ASC' : 'DESC';
}

/**
 * Returns the next ids that every term finds, in the order of the ids. The statement reads all entries of all terms
 * between `from` and `downTo`.
 */
export async function meet(workspaceId: string, terms: Term[], place: ScanPage): Promise<Step<string>> {
  const rows = await query<{ id: Buffer }[]>(
    `${meeting(workspaceId, terms, place)} ORDER BY id ${directionOf(place)} LIMIT ${place.size}`,
  );
  const found = rows.map((row) => idFromBytes('contact', row.id));
  return { found, reached: found.length < place.size ? (place.downTo ?? null) : found.at(-1)! };
}

/** Returns how many contacts are found by every term. */
export async function countMeeting(workspaceId: string, terms: Term[]): Promise<number> {
  const all = meeting(workspaceId, terms, { from: null, isRising: true });
  const [row] = await query<{ contacts: number }[]>(`SELECT COUNT(*) AS contacts FROM (${all}) AS counted`);
  return row!.contacts;
}

function meeting(workspaceId: string, terms: Term[], place: Omit<ScanPage, 'size'>): string {
  const [workspace, also] = [idText(workspaceId), bound(place)];
  const ranges = terms.flatMap((term, index) =>
    term.map((range) => select(range, workspace, { what: `${1 << index} AS bit`, also })),
  );
  const all = (1 << terms.length) - 1;
  return `SELECT id FROM (${union(ranges)}) AS found GROUP BY id HAVING BIT_OR(bit) = ${all}`;
}

/** Returns how many entries each range has; entries past `most` are not counted. */
export async function countEntries(workspaceId: string, ranges: Range[], most: number): Promise<number[]> {
  if (ranges.length === 0) return [];
  const workspace = idText(workspaceId);
  const stretches = ranges.map((range, place) => {
    const stretch = select(range, workspace, { also: () => `LIMIT ${most}` });
    return `SELECT ${place} AS place, COUNT(*) AS entries FROM (${stretch}) AS stretch`;
  });
  const counts = ranges.map(() => 0);
  for (const { place, entries } of await query<{ place: number; entries: number }[]>(union(stretches)))
    counts[place] = entries;
  return counts;
}

/**
 * Returns the keys of each range, each as a range of its own whose entries are in the order of the ids; null where a
 * range has more than `most` keys. A key costs one step along the index, however many entries it has.
 */
export async function listKeys(
  workspaceId: string,
  ranges: Range[],
  most: number,
): Promise<(Range[] | null)[]> {
  const workspace = idText(workspaceId);
  const keys = ranges.map((): Range[] | null => []);
  let open = ranges.map((_, place) => place);
  for (let round = 0; round <= most && open.length > 0; round += 1) {
    const rows = await query<{ place: number; found: Buffer }[]>(
      union(open.map((place) => keyAfter(ranges[place]!, place, keys[place]!.at(-1), workspace))),
    );
    open = rows.map(({ place }) => place);
    for (const { place, found } of rows)
      if (round === most) keys[place] = null;
      else keys[place]!.push({ ...ranges[place]!, key: found.toString(), isPrefix: false });
  }
  return keys;
}

function keyAfter(range: Range, place: number, last: Range | undefined, workspace: string): string {
  const { key, bytes } = sources[range.source];
  const after = last ? `AND ${key} > ${hex(Buffer.from(startOf(last.key, bytes)))}` : '';
  return select(range, workspace, {
    what: `${place} AS place, ${key} AS found`,
    also: () => `${after} ORDER BY ${key} LIMIT 1`,
  });
}

/**
 * Returns the next window of ids in which every term may find a contact; null: there is none. Among the ids that are
 * skipped, at least one term finds nothing; in the window, no range has more than `size` + 1 entries. Ranges of several
 * keys are read whole for this.
 */
export async function findWindow(
  workspaceId: string,
  terms: Term[],
  { from, size }: { from: string | null; size: number },
): Promise<{ from: string; downTo: string | null } | null> {
  const workspace = idText(workspaceId);
  const ranges = terms.flatMap((term, index) => term.map((range) => ({ range, index })));
  const nth = async (before: string | null, skip: number) => {
    const conditions = bound({ from: before, isRising: false });
    const also = (id: string) => `${conditions(id)} ORDER BY ${id} DESC LIMIT 1 OFFSET ${skip}`;
    const rows = await query<{ term: number; id: Buffer }[]>(
      union(ranges.map(({ range, index }) => select(range, workspace, { what: `${index} AS term`, also }))),
    );
    return rows.map(({ term, id }) => ({ term, id: idFromBytes('contact', id) }));
  };
  const newest = new Map<number, string>();
  for (const { term, id } of await nth(from, 0)) if (id > (newest.get(term) ?? '')) newest.set(term, id);
  if (newest.size < terms.length) return null;
  const start = justAfter([...newest.values()].toSorted()[0]!);
  const ends = (await nth(start, size)).map(({ id }) => id).toSorted();
  return { from: start, downTo: ends.at(-1) ?? null };
}

function justAfter(id: string): string {
  const next = BigInt(`0x${idToBytes(id).toString('hex')}`) + 1n;
  return idFromBytes('contact', Buffer.from(next.toString(16).padStart(32, '0'), 'hex'));
}
