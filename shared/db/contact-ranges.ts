import { startOf } from '../formats/folded-text.ts';
import { idFromBytes, idToBytes } from '../formats/ids.ts';
import { byId, query, type Row } from './client.ts';
import { tagKeyBytes, wordBytes } from './contact-entries.ts';
import { type ContactRecord, read, textKeyBytes, toRecord } from './contacts.ts';

/** The indexes that contacts are found by, and the ways through them: each step is one statement. */

/** A stretch of an index: the keys that begin with this one, or are this one. */
export type Range = { source: Source; key: string; isPrefix: boolean };
/** The contacts that any of its ranges finds. */
export type Term = Range[];

/** `bytes`: a column holds no more of a key, so what a longer one finds has to be compared. */
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
export type Source = keyof typeof sources;
type Index = { table: string; key: string; id: string; bytes: number };

function entries(table: string, key: string, bytes: number): Index {
  return { table: `${table} FORCE INDEX (PRIMARY)`, key, id: 'contact_id', bytes };
}

// Left to itself the optimizer would read the newest contacts one by one in the hope of finding enough.
function column(index: string, key: string, bytes: number): Index {
  return { table: `contacts FORCE INDEX (${index})`, key, id: 'id', bytes };
}

type Statement = { sql: string; values: unknown[] };
/** In `also`, `{id}` stands for the column of the id. */
type Selected = { what?: string; also?: string; values?: unknown[] };

/** The ids in a stretch as `id`. */
function select(
  { source, key, isPrefix }: Range,
  workspace: Buffer,
  { what, also = '', values = [] }: Selected,
): Statement {
  const { table, key: column, id, bytes } = sources[source];
  const start = Buffer.from(startOf(key, bytes));
  // No byte of UTF-8 is ff, so it comes after all that begins with the key.
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

function send({ sql, values }: Statement): Promise<Row[]> {
  return query(sql, values);
}

/** Newest first, or oldest first; `from` is the id that the last step ended with. */
export type Place = { from: string | null; isRising: boolean; size: number };
/** What a step has found, and where the next begins; null: there is no more. */
export type Step<Found> = { found: Found[]; reached: string | null };

function bound({ from, isRising }: Omit<Place, 'size'>): { also: string; values: Buffer[] } {
  if (from === null) return { also: '', values: [] };
  return { also: `AND {id} ${isRising ? '>' : '<'} ?`, values: [idToBytes(from)] };
}

/** All contacts, in order of their ids. */
export async function scan(workspaceId: string, place: Place): Promise<Step<ContactRecord>> {
  const { also, values } = bound(place);
  const rows = await query(
    `SELECT ${read} FROM contacts ${byId} WHERE workspace_id = ? ${also.replace('{id}', 'id')}
     ORDER BY id ${directionOf(place)} LIMIT ?`,
    [idToBytes(workspaceId), ...values, place.size],
  );
  const found = rows.map(toRecord);
  return { found, reached: found.length < place.size ? null : found.at(-1)!.id };
}

/** What any range of a term finds, in order of the ids. */
export async function walk(workspaceId: string, term: Term, place: Place): Promise<Step<string>> {
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
  for (const row of await send(union(ranges))) found[row.part]!.push(idFromBytes('contact', row.id));
  // A range that gives as many as it was asked for has more, so what others give beyond its last one is not yet next.
  const ends = found.filter(({ length }) => length === place.size).map((ids) => inTurn(place, ids).at(-1)!);
  const reached = inTurn(place, ends)[0] ?? null;
  const ids = inTurn(place, [...new Set(found.flat())]);
  return { found: reached === null ? ids : ids.slice(0, ids.indexOf(reached) + 1), reached };
}

function inTurn({ isRising }: Place, ids: string[]): string[] {
  const rising = ids.toSorted();
  return isRising ? rising : rising.toReversed();
}

function directionOf({ isRising }: Place): string {
  return isRising ? 'ASC' : 'DESC';
}

/** What every term finds, in order of the ids. All that any of them finds is read for it. */
export async function meet(workspaceId: string, terms: Term[], place: Place): Promise<Step<string>> {
  const { sql, values } = meeting(workspaceId, terms, place);
  const rows = await query(`${sql} ORDER BY id ${directionOf(place)} LIMIT ?`, [...values, place.size]);
  const found = rows.map((row) => idFromBytes('contact', row.id));
  return { found, reached: found.length < place.size ? null : found.at(-1)! };
}

/** How many contacts every term finds; no more than `cap` are counted. */
export async function countMeeting(workspaceId: string, terms: Term[], cap: number): Promise<number> {
  const { sql, values } = meeting(workspaceId, terms, { from: null, isRising: true });
  const [row] = await query(`SELECT COUNT(*) AS contacts FROM (${sql} LIMIT ?) AS counted`, [...values, cap]);
  return Number(row!.contacts);
}

function meeting(workspaceId: string, terms: Term[], place: Omit<Place, 'size'>): Statement {
  const ranges = terms.flatMap((term, index) =>
    term.map((range) =>
      select(range, idToBytes(workspaceId), { what: `${1 << index} AS bit`, ...bound(place) }),
    ),
  );
  const { sql, values } = union(ranges);
  const all = (1 << terms.length) - 1;
  return { sql: `SELECT id FROM (${sql}) AS found GROUP BY id HAVING BIT_OR(bit) = ${all}`, values };
}

/** How many entries each term has; those past `most` are not counted. */
export async function countEntries(workspaceId: string, terms: Term[], most: number): Promise<number[]> {
  const stretches = terms.flatMap((term, index) =>
    term.map((range) => {
      const { sql, values } = select(range, idToBytes(workspaceId), { also: 'LIMIT ?', values: [most] });
      return { sql: `SELECT ${index} AS term, COUNT(*) AS entries FROM (${sql}) AS stretch`, values };
    }),
  );
  const sums = terms.map(() => 0);
  for (const { term, entries } of await send(union(stretches)))
    sums[term] = Math.min(most, sums[term]! + Number(entries));
  return sums;
}
