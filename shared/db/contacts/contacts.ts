import { foldWhole, reversed, startOf, tagKeyOf, wordsOfContact } from '../../formats/folded-text.ts';
import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { binaryText, id, json, text, time } from '../client/columns.ts';
import { deleteRow, findRow, type Lock } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, execute, hex, literal, query, queryEach, sqlTime } from '../client.ts';
import { deleteMemberships } from '../contact-lists/members.ts';
import {
  countStatements,
  type Entries,
  entryStatements,
  noTags,
  type TagCounts,
  updateContactCounts,
  wordBytes,
} from './entries.ts';

/** The contacts of a workspace. Each write also changes the words, tags and counts of entries.ts. */

export const contacts = table('contacts', {
  id: id('contact'),
  /** E.164. */
  number: binaryText(),
  /** The digits as they are dialled at home. */
  national: binaryText(),
  country: text().nullable(),
  firstName: text().nullable(),
  lastName: text().nullable(),
  company: text().nullable(),
  email: text().nullable(),
  clientReference: text().nullable(),
  /** Sorted. */
  tags: json<string[]>(),
  createdAt: time(),
  updatedAt: time(),
});
export type ContactRecord = RecordOf<typeof contacts>;

const [createdText, updatedText] = [timeWriter(), timeWriter()];
/**
 * Column -> its value as SQL. We write the values by hand because contacts come by the thousand: half of the columns
 * are made from others, and values as text take a fraction of the time.
 */
const values = {
  workspace_id: ({ workspace }) => workspace,
  id: ({ id }) => id,
  created_at: ({ record }) => createdText(record.createdAt),
  number: ({ record }) => literal(record.number),
  national: ({ record }) => literal(record.national),
  reversed: ({ record }) => literal(reversed(record.number.slice(1))),
  country: ({ record }) => literal(record.country),
  first_name: ({ record }) => literal(record.firstName),
  last_name: ({ record }) => literal(record.lastName),
  company: ({ record }) => literal(record.company),
  first_name_word: ({ leading }) => leadingWord(leading[0]),
  last_name_word: ({ leading }) => leadingWord(leading[1]),
  company_word: ({ leading }) => leadingWord(leading[2]),
  email: ({ record }) => literal(record.email),
  email_key: ({ record }) => keyOf(record.email),
  client_reference: ({ record }) => literal(record.clientReference),
  client_reference_key: ({ record }) => keyOf(record.clientReference),
  tags: ({ record }) => literal(JSON.stringify(record.tags)),
  updated_at: ({ record }) => updatedText(record.updatedAt),
} satisfies Record<string, (row: Keyed) => string>;
type ContactColumn = keyof typeof values;
const columns = Object.keys(values) as ContactColumn[];
const columnsOf = {
  number: ['number', 'national', 'reversed', 'country'],
  firstName: ['first_name', 'first_name_word'],
  lastName: ['last_name', 'last_name_word'],
  company: ['company', 'company_word'],
  email: ['email', 'email_key'],
  clientReference: ['client_reference', 'client_reference_key'],
  tags: ['tags'],
} satisfies Partial<Record<keyof ContactRecord, ContactColumn[]>>;
/** No row can be written without these. */
const required: ContactColumn[] = [
  'workspace_id',
  'id',
  'created_at',
  'number',
  'national',
  'reversed',
  'tags',
  'updated_at',
];
// Keeps a statement far below the size that the server accepts: one contact may have tags of 25 kB.
const rowsAtOnce = 1_000;
const tagsAtOnce = 16_000;

export function findContact(workspaceId: string, id: string): Promise<ContactRecord | null> {
  return findRow(workspaceId, contacts, { id });
}

/**
 * The contacts with these ids that the workspace has, in the order of their ids. They are locked in that order too: a
 * fixed order avoids deadlocks.
 */
export async function listContactsByIds(
  workspaceId: string,
  ids: string[],
  lock: Lock = '',
): Promise<ContactRecord[]> {
  if (ids.length === 0) return [];
  return contacts.toRecords(
    await query(
      `SELECT ${contacts.columns} FROM contacts ${byId} WHERE workspace_id = ? AND id IN (?) ORDER BY id ${lock}`,
      [idToBytes(workspaceId), ids.map(idToBytes)],
    ),
  );
}

export async function findContactIdOfNumber(workspaceId: string, number: string): Promise<string | null> {
  const [row] = await execute<{ id: Buffer }[]>(
    'SELECT id FROM contacts WHERE workspace_id = ? AND number = ?',
    [idToBytes(workspaceId), Buffer.from(number)],
  );
  return row ? idFromBytes('contact', row.id) : null;
}

/** Returns a map from number to the id of its contact; numbers without a contact are left out. */
export async function listContactIdsOfNumbers(
  workspaceId: string,
  numbers: string[],
): Promise<Map<string, string>> {
  if (numbers.length === 0) return new Map();
  const rows = await query<{ id: Buffer; number: Buffer }[]>(
    'SELECT id, number FROM contacts WHERE workspace_id = ? AND number IN (?)',
    [idToBytes(workspaceId), numbers.map((number) => Buffer.from(number))],
  );
  return new Map(rows.map((row) => [row.number.toString(), idFromBytes('contact', row.id)]));
}

/** The contacts with these numbers, locked in the order of their numbers until the transaction ends. */
export async function listContactsByNumberForUpdate(
  workspaceId: string,
  numbers: string[],
): Promise<ContactRecord[]> {
  if (numbers.length === 0) return [];
  return contacts.toRecords(
    await query(
      `SELECT ${contacts.columns} FROM contacts FORCE INDEX (contacts_number)
     WHERE workspace_id = ? AND number IN (?) ORDER BY number FOR UPDATE`,
      [idToBytes(workspaceId), numbers.map((number) => Buffer.from(number))],
    ),
  );
}

/** Fails on a number that the workspace has already. */
export function insertContacts(workspaceId: string, records: ContactRecord[]): Promise<void> {
  return writeContacts(workspaceId, { created: records });
}

export type ContactChange = { before: ContactRecord; after: ContactRecord };

/**
 * Writes the changed fields of the records, which must have been locked in this transaction. Adds the changes of the
 * counts to `counts`: the caller writes them at the end.
 */
export function updateContacts(
  workspaceId: string,
  changes: ContactChange[],
  counts: TagCounts,
): Promise<void> {
  return queryEach(updates(workspaceId, changes, counts));
}

/**
 * Writes the changed fields of records, which must have been locked in this transaction, then the new records, then the
 * counts. Fails on a number that another contact has.
 */
export async function writeContacts(
  workspaceId: string,
  { changed = [], created = [] }: { changed?: ContactChange[]; created?: ContactRecord[] },
): Promise<void> {
  const counts: TagCounts = new Map();
  function* all() {
    yield* updates(workspaceId, changed, counts);
    yield* insertions(workspaceId, created, counts);
    yield* countStatements(workspaceId, counts);
  }
  await queryEach(all());
}

function* updates(workspaceId: string, changes: ContactChange[], counts: TagCounts): Iterable<string> {
  const workspace = hex(idToBytes(workspaceId));
  const keyed = changes.map((change) => {
    const before = withKeys(workspace, change.before);
    return { before, after: withKeys(workspace, change.after, before.id) };
  });
  // The rows exist, so this INSERT updates them. One UPDATE cannot give each of many rows its own values.
  for (const some of portionsByTags(keyed)) {
    const touched = changedColumns(some);
    const given = columns.filter((column) => required.includes(column) || touched.includes(column));
    yield `${insertion(some, given)}
      ON DUPLICATE KEY UPDATE ${touched.map((column) => `${column} = VALUES(${column})`).join(', ')}`;
  }
  yield* entryStatements(workspaceId, keyed, counts);
}

/**
 * Inserts, and so locks, the rows in the order of their numbers: two transactions that insert the same numbers wait for
 * each other and cannot deadlock.
 */
function* insertions(workspaceId: string, records: ContactRecord[], counts: TagCounts): Iterable<string> {
  const workspace = hex(idToBytes(workspaceId));
  const ordered = records.toSorted((one, other) => (one.number < other.number ? -1 : 1));
  const keyed = ordered.map((record) => ({ before: null, after: withKeys(workspace, record) }));
  for (const some of portionsByTags(keyed)) yield insertion(some, columns);
  yield* entryStatements(workspaceId, keyed, counts);
}

/** Builds the text row by row: one text that grows by each value takes twice the memory until it is sent. */
function insertion(changes: { after: Keyed }[], given: ContactColumn[]): string {
  const rows = changes.map(({ after }) => `(${given.map((column) => values[column](after)).join()})`);
  return `INSERT INTO contacts (${given.join()}) VALUES ${rows.join()}`;
}

/** The columns that any of the changes touches. */
function changedColumns(changes: { before: Keyed; after: Keyed }[]): ContactColumn[] {
  const fields = (Object.keys(columnsOf) as (keyof typeof columnsOf)[]).filter((field) =>
    changes.some(({ before, after }) => before.record[field] !== after.record[field]),
  );
  return [...fields.flatMap((field) => columnsOf[field]), 'updated_at'];
}

/** Deletes the contact with its memberships, words and tags. The record must have been locked in this transaction. */
export async function deleteContact(workspaceId: string, record: ContactRecord): Promise<void> {
  await deleteRow(workspaceId, contacts, { id: record.id });
  await deleteMemberships(workspaceId, record.id);
  const counts: TagCounts = new Map();
  const gone = { before: withKeys(hex(idToBytes(workspaceId)), record), after: null };
  await queryEach(entryStatements(workspaceId, [gone], counts));
  await updateContactCounts(workspaceId, counts);
}

/** The key columns hold this many bytes of an email or a client reference; the rest is cut off. */
export const textKeyBytes = 64;

function keyOf(text: string | null): string {
  return literal(text === null ? null : startOf(foldWhole(text), textKeyBytes));
}

/** A contact with the search keys of its row and of its entries, made once for both. */
type Keyed = Entries & {
  /** The workspace's id, as SQL. */
  workspace: string;
  record: ContactRecord;
  leading: (string | null)[];
};

/** `id`: the id of the record as SQL, where the caller has written it already. */
function withKeys(workspace: string, record: ContactRecord, id = hex(idToBytes(record.id))): Keyed {
  const { leading, further } = wordsOfContact(record);
  return { workspace, id, record, leading, words: further, tags: tagsByKey(record.tags) };
}

function tagsByKey(tags: string[]): Entries['tags'] {
  return tags.length === 0 ? noTags : new Map(tags.map((tag) => [tagKeyOf(tag), tag]));
}

function leadingWord(word: string | null | undefined): string {
  return literal(word ? startOf(word, wordBytes) : null);
}

/** Returns a function that keeps its last result: of many rows, nearly all have the same time. */
function timeWriter(): (time: Date) => string {
  let last = { time: new Date(NaN), text: '' };
  return (time) => {
    if (time.getTime() !== last.time.getTime()) last = { time, text: literal(sqlTime(time)) };
    return last.text;
  };
}

function portionsByTags<Change extends { after: Keyed }>(changes: Change[]): Change[][] {
  const portions: Change[][] = [];
  let tags = 0;
  for (const change of changes) {
    const last = portions.at(-1);
    const own = change.after.record.tags.length;
    tags += own;
    if (last && last.length < rowsAtOnce && tags <= tagsAtOnce) last.push(change);
    else {
      portions.push([change]);
      tags = own;
    }
  }
  return portions;
}
