import { portionsOf } from '../../common/portions.ts';
import { startOf } from '../../formats/folded-text.ts';
import { idToBytes } from '../../formats/ids.ts';
import { byId, hex, query, queryEach, statement } from '../client.ts';

/** The rows beside `contacts` by which contacts are found and counted: words, tags and counts. */

export type Entries = {
  /** The id of the contact, as SQL. */
  id: string;
  words: readonly string[];
  /** Folded key -> the tag as it is spelt. */
  tags: ReadonlyMap<string, string>;
};
/** `before` is null for a new contact, `after` for a deleted one. */
type EntriesChange = { before: Entries | null; after: Entries | null };

/** The length of the key columns of words, in bytes. */
export const wordBytes = 48;

const contactsAtOnce = 1_000;
const rowsAtOnce = 5_000;
// Each entry may be a range of its own. With more than some thousands of ranges, the server no longer uses the index.
const goneAtOnce = 500;
const shards = 16;

type IndexEntry = { key: string; id: Entries['id'] };

/**
 * Yields the statements that bring the entries of contacts from `before` to `after`; the rows of the contacts must be
 * locked. The changes of the counts are added to `counts`.
 */
export function* entryStatements(
  workspaceId: string,
  changes: EntriesChange[],
  counts: TagCounts,
): Iterable<string> {
  const workspace = hex(idToBytes(workspaceId));
  for (const some of portionsOf(changes, contactsAtOnce)) {
    const [words, tags] = [newEntries(), newEntries()];
    for (const { before, after } of some) {
      const { id } = (after ?? before)!;
      const oldWords = wordKeys(before);
      const currentWords = wordKeys(after);
      for (const key of oldWords) if (!currentWords.includes(key)) words.gone.push({ key, id });
      for (const key of currentWords) if (!oldWords.includes(key)) words.added.push({ key, id });
      count(counts, '', '', Number(after !== null) - Number(before !== null));
      const old = before?.tags ?? noTags;
      const current = after?.tags ?? noTags;
      if (old === current) continue;
      for (const [key, tag] of old) {
        if (current.has(key)) continue;
        tags.gone.push({ key, id });
        count(counts, key, tag, -1);
      }
      for (const [key, tag] of current) {
        if (old.has(key)) continue;
        tags.added.push({ key, id });
        count(counts, key, tag, 1);
      }
    }
    yield* deletionOf(workspace, 'contact_words', 'word', words.gone);
    yield* insertionOf(workspace, 'contact_words', 'word', words.added);
    yield* deletionOf(workspace, 'contact_tags', 'tag_key', tags.gone);
    yield* insertionOf(workspace, 'contact_tags', 'tag_key', tags.added);
  }
}

/** Most contacts have no tags, so all of them share one map. */
export const noTags: Entries['tags'] = new Map();
const noWords: Entries['words'] = [];

function wordKeys(entries: Entries | null): Entries['words'] {
  if (!entries) return noWords;
  const keys = entries.words.map((word) => startOf(word, wordBytes));
  // Two long words may begin alike, and so have the same key.
  return keys.length > 1 ? [...new Set(keys)] : keys;
}

function newEntries() {
  return { gone: [] as IndexEntry[], added: [] as IndexEntry[] };
}

function* insertionOf(
  workspace: string,
  name: string,
  column: string,
  entries: IndexEntry[],
): Iterable<string> {
  for (const some of portionsOf(entries, rowsAtOnce)) {
    // Many contacts share a word, and the entries of one word lie together in the table.
    const starts = new Map<string, { start: string; rows: string[] }>();
    for (const { key, id } of some) {
      let of = starts.get(key);
      if (!of) starts.set(key, (of = { start: `(${workspace},${hex(Buffer.from(key))},`, rows: [] }));
      of.rows.push(`${of.start}${id})`);
    }
    const rows = [...starts.values()].flatMap((of) => of.rows);
    yield `INSERT INTO ${name} (workspace_id, ${column}, contact_id) VALUES ${rows.join()}`;
  }
}

function* deletionOf(
  workspace: string,
  name: string,
  column: string,
  entries: IndexEntry[],
): Iterable<string> {
  for (const some of portionsOf(entries, goneAtOnce)) {
    const byKey = Map.groupBy(some, ({ key }) => key);
    const gone = [...byKey].map(
      ([key, ofKey]) =>
        `(e.${column} = ${hex(Buffer.from(key))} AND e.contact_id IN (${ofKey.map(({ id }) => id).join()}))`,
    );
    yield `DELETE e FROM ${name} e ${byId} WHERE e.workspace_id = ${workspace} AND (${gone.join(' OR ')})`;
  }
}

/** Key -> the tag as it is spelt, and by how much the number of contacts that have it changes. */
export type TagCounts = Map<string, { tag: string; by: number }>;

function count(counts: TagCounts, key: string, tag: string, by: number): void {
  const known = counts.get(key);
  if (known) known.by += by;
  else counts.set(key, { tag, by });
}

/** Writes the changes of the counts. Comes last in a transaction: other transactions may wait for these rows. */
export function updateContactCounts(workspaceId: string, counts: TagCounts): Promise<void> {
  return queryEach(countStatements(workspaceId, counts));
}

/** Yields the statements that write `counts`, with the values that `counts` has when the first of them is asked for. */
export function* countStatements(workspaceId: string, counts: TagCounts): Iterable<string> {
  const workspace = idToBytes(workspaceId);
  const changed = [...counts].filter(([, { by }]) => by !== 0);
  if (changed.length === 0) return;
  // All transactions lock these rows in one order, so that they cannot deadlock.
  changed.sort(([one], [other]) => (one < other ? -1 : 1));
  const shard = Math.floor(Math.random() * shards);
  yield statement(
    `INSERT INTO contact_counts (workspace_id, tag_key, shard, tag, contacts) VALUES ?
     ON DUPLICATE KEY UPDATE contacts = contacts + VALUES(contacts)`,
    [changed.map(([key, { tag, by }]) => [workspace, key, key === '' ? shard : 0, tag, by])],
  );
  const fewer = changed.flatMap(([key, { by }]) => (key !== '' && by < 0 ? [key] : []));
  if (fewer.length === 0) return;
  yield statement(
    `DELETE c FROM contact_counts c ${byId}
     WHERE c.workspace_id = ? AND c.tag_key IN (?) AND c.shard = 0 AND c.contacts <= 0`,
    [workspace, fewer.map((key) => Buffer.from(key))],
  );
}

/**
 * Tags with how many contacts have them, in the order of their keys; `after` is the key that the last page ended with.
 */
export async function listTagCounts(
  workspaceId: string,
  { limit, after }: { limit: number; after: string | null },
): Promise<{ key: string; tag: string; count: number }[]> {
  const rows = await query<{ tag_key: Buffer; tag: string; contacts: number }[]>(
    `SELECT tag_key, tag, contacts FROM contact_counts ${byId} WHERE workspace_id = ? AND tag_key > ?
     ORDER BY tag_key LIMIT ?`,
    [idToBytes(workspaceId), Buffer.from(after ?? ''), limit],
  );
  return rows.map((row) => ({ key: row.tag_key.toString(), tag: row.tag, count: row.contacts }));
}

/** Returns how many contacts have the tag with this key; for the empty key, how many contacts there are. */
export async function findCount(workspaceId: string, tagKey: string): Promise<number> {
  const [row] = await query<{ contacts: string | null }[]>(
    'SELECT SUM(contacts) AS contacts FROM contact_counts WHERE workspace_id = ? AND tag_key = ?',
    [idToBytes(workspaceId), Buffer.from(tagKey)],
  );
  return Number(row?.contacts ?? 0);
}
