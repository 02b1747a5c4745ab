import { startOf, tagKeyBytes } from '../../formats/folded-text.ts';
import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, query } from '../client.ts';
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

type Statement = { sql: string; values: unknown[] };
/** In `also`, `{id}` stands for the column of the id. */
type Selected = { what?: string; also?: string; values?: unknown[] };

/** Returns a SELECT of the contact ids in a range, as the column `id`. */
function select(
  { source, key, isPrefix }: Range,
  workspace: Buffer,
  { what, also = '', values = [] }: Selected,
): Statement {
  const { table, key: column, id, bytes } = sources[source];
  const start = Buffer.from(startOf(key, bytes));
  // UTF-8 has no byte ff, so the key with ff after it sorts after every text that begins with the key.
  const where = isPrefix ? `${column} >= ? AND ${column} < ?` : `${column} = ?`;
  const end = isPrefix ? [Buffer.concat([start, Buffer.of(0xff)])] : [];
  return {
    sql: `SELECT ${what === undefined ? '' : `${what}, `}${id} AS id FROM ${table}
      WHERE workspace_id = ? AND ${where} ${also.replaceAll('{id}', id)}`,
    values: [workspace, start, ...end, ...values],
  };
}

function union(statements: Statement[]): Statement {
  return {
    sql: statements.map(({ sql }) => `(${sql})`).join(' UNION ALL '),
    values: statements.flatMap(({ values }) => values),
  };
}

function send<Row>({ sql, values }: Statement): Promise<Row[]> {
  return query<Row[]>(sql, values);
}

/**
 * `isRising`: oldest first, otherwise newest first. `from`: the id that the last step ended with. `downTo`: the last id
 * that is looked at.
 */
export type ScanPage = { from: string | null; downTo?: string | null; isRising: boolean; size: number };
/** The findings of a step, and the id after which the next step begins; null: there are no more. */
export type Step<Found> = { found: Found[]; reached: string | null };

function bound({ from, downTo = null, isRising }: Omit<ScanPage, 'size'>): {
  also: string;
  values: Buffer[];
} {
  const after = `AND {id} ${isRising ? '>' : '<'} ?`;
  return {
    also: `${from === null ? '' : after} ${downTo === null ? '' : 'AND {id} >= ?'}`,
    values: [from, downTo].filter((id) => id !== null).map(idToBytes),
  };
}

/** Returns the next of all contacts, in the order of their ids. */
export async function scan(workspaceId: string, place: ScanPage): Promise<Step<ContactRecord>> {
  const { also, values } = bound(place);
  const found = contacts.toRecords(
    await query(
      `SELECT ${contacts.columns} FROM contacts ${byId} WHERE workspace_id = ? ${also.replaceAll('{id}', 'id')}
     ORDER BY id ${directionOf(place)} LIMIT ?`,
      [idToBytes(workspaceId), ...values, place.size],
    ),
  );
  return { found, reached: found.length < place.size ? null : found.at(-1)!.id };
}

/** Returns the next ids that any range of the term finds, in the order of the ids. */
export async function walk(workspaceId: string, term: Term, place: ScanPage): Promise<Step<string>> {
  const { also, values } = bound(place);
  const order = `${also} ORDER BY {id} ${directionOf(place)} LIMIT ?`;
  const ranges = term.map((range, index) =>
    select(range, idToBytes(workspaceId), {
      what: `${index} AS part`,
      also: order,
      values: [...values, place.size],
    }),
  );
  const found = term.map((): string[] => []);
  for (const row of await send<{ part: number; id: Buffer }>(union(ranges)))
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
  const { sql, values } = meeting(workspaceId, terms, place);
  const rows = await query<{ id: Buffer }[]>(`${sql} ORDER BY id ${directionOf(place)} LIMIT ?`, [
    ...values,
    place.size,
  ]);
  const found = rows.map((row) => idFromBytes('contact', row.id));
  return { found, reached: found.length < place.size ? (place.downTo ?? null) : found.at(-1)! };
}

/** Returns how many contacts are found by every term. */
export async function countMeeting(workspaceId: string, terms: Term[]): Promise<number> {
  const { sql, values } = meeting(workspaceId, terms, { from: null, isRising: true });
  const [row] = await query<{ contacts: number }[]>(
    `SELECT COUNT(*) AS contacts FROM (${sql}) AS counted`,
    values,
  );
  return row!.contacts;
}

function meeting(workspaceId: string, terms: Term[], place: Omit<ScanPage, 'size'>): Statement {
  const ranges = terms.flatMap((term, index) =>
    term.map((range) =>
      select(range, idToBytes(workspaceId), { what: `${1 << index} AS bit`, ...bound(place) }),
    ),
  );
  const { sql, values } = union(ranges);
  const all = (1 << terms.length) - 1;
  return { sql: `SELECT id FROM (${sql}) AS found GROUP BY id HAVING BIT_OR(bit) = ${all}`, values };
}

/** Returns how many entries each range has; entries past `most` are not counted. */
export async function countEntries(workspaceId: string, ranges: Range[], most: number): Promise<number[]> {
  if (ranges.length === 0) return [];
  const stretches = ranges.map((range, place) => {
    const { sql, values } = select(range, idToBytes(workspaceId), { also: 'LIMIT ?', values: [most] });
    return { sql: `SELECT ${place} AS place, COUNT(*) AS entries FROM (${sql}) AS stretch`, values };
  });
  const counts = ranges.map(() => 0);
  for (const { place, entries } of await send<{ place: number; entries: number }>(union(stretches)))
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
  const keys = ranges.map((): Range[] | null => []);
  let open = ranges.map((_, place) => place);
  for (let round = 0; round <= most && open.length > 0; round += 1) {
    const rows = await send<{ place: number; found: Buffer }>(
      union(open.map((place) => keyAfter(ranges[place]!, place, keys[place]!.at(-1), workspaceId))),
    );
    open = rows.map(({ place }) => place);
    for (const { place, found } of rows)
      if (round === most) keys[place] = null;
      else keys[place]!.push({ ...ranges[place]!, key: found.toString(), isPrefix: false });
  }
  return keys;
}

function keyAfter(range: Range, place: number, last: Range | undefined, workspaceId: string): Statement {
  const { key, bytes } = sources[range.source];
  return select(range, idToBytes(workspaceId), {
    what: `${place} AS place, ${key} AS found`,
    also: `${last ? `AND ${key} > ?` : ''} ORDER BY ${key} LIMIT 1`,
    values: last ? [Buffer.from(startOf(last.key, bytes))] : [],
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
  const ranges = terms.flatMap((term, index) => term.map((range) => ({ range, index })));
  const nth = async (before: string | null, skip: number) => {
    const { also, values } = bound({ from: before, isRising: false });
    const statements = ranges.map(({ range, index }) =>
      select(range, idToBytes(workspaceId), {
        what: `${index} AS term`,
        also: `${also} ORDER BY {id} DESC LIMIT 1 OFFSET ?`,
        values: [...values, skip],
      }),
    );
    const rows = await send<{ term: number; id: Buffer }>(union(statements));
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
