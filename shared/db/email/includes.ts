import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { binaryText, id, text, time } from '../client/columns.ts';
import type { Page } from '../client/listing.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, type Changed, execute, query } from '../client.ts';

const emailIncludes = table('email_includes', {
  id: id('include'),
  name: binaryText(),
  content: text(),
  createdAt: time(),
  updatedAt: time(),
});
export type EmailIncludeRecord = RecordOf<typeof emailIncludes>;

export async function insertEmailInclude(workspaceId: string, record: EmailIncludeRecord): Promise<void> {
  await query('INSERT INTO email_includes SET ?', [
    { ...emailIncludes.toRow(record), workspace_id: idToBytes(workspaceId) },
  ]);
}

export async function findEmailInclude(
  workspaceId: string,
  name: string,
): Promise<EmailIncludeRecord | null> {
  const [record] = await listEmailIncludesByNames(workspaceId, [name]);
  return record ?? null;
}

/** Lists the includes with these names that exist. */
export async function listEmailIncludesByNames(
  workspaceId: string,
  names: string[],
): Promise<EmailIncludeRecord[]> {
  if (names.length === 0) return [];
  return emailIncludes.toRecords(
    await query('SELECT * FROM email_includes WHERE workspace_id = ? AND name IN (?)', [
      idToBytes(workspaceId),
      names.map((name) => Buffer.from(name)),
    ]),
  );
}

/** Counts the characters of the includes with these names together. */
export async function findEmailIncludesLength(workspaceId: string, names: string[]): Promise<number> {
  if (names.length === 0) return 0;
  const [row] = await query<{ length: string | null }[]>(
    'SELECT SUM(CHAR_LENGTH(content)) AS length FROM email_includes WHERE workspace_id = ? AND name IN (?)',
    [idToBytes(workspaceId), names.map((name) => Buffer.from(name))],
  );
  return Number(row?.length ?? 0);
}

/** The names of all includes of the workspace, by id. */
export async function listEmailIncludeNames(workspaceId: string): Promise<Map<string, string>> {
  const rows = await execute<{ id: Buffer; name: Buffer }[]>(
    'SELECT id, name FROM email_includes WHERE workspace_id = ?',
    [idToBytes(workspaceId)],
  );
  return new Map(rows.map((row) => [idFromBytes('include', row.id), row.name.toString()]));
}

/** Newest first. `length`: of the content, in bytes. */
export async function listEmailIncludeLengths(
  workspaceId: string,
  { limit, before }: Page,
): Promise<{ id: string; length: number }[]> {
  const place = before === null ? [] : [idToBytes(before)];
  const rows = await query<{ id: Buffer; length: number }[]>(
    `SELECT id, LENGTH(content) AS length FROM email_includes FORCE INDEX (email_includes_listed)
     WHERE workspace_id = ? ${before === null ? '' : 'AND id < ?'} ORDER BY id DESC LIMIT ?`,
    [idToBytes(workspaceId), ...place, limit],
  );
  return rows.map((row) => ({ id: idFromBytes('include', row.id), length: row.length }));
}

/** Newest first. */
export async function listEmailIncludesByIds(
  workspaceId: string,
  ids: string[],
): Promise<EmailIncludeRecord[]> {
  if (ids.length === 0) return [];
  return emailIncludes.toRecords(
    await query('SELECT * FROM email_includes WHERE workspace_id = ? AND id IN (?) ORDER BY id DESC', [
      idToBytes(workspaceId),
      ids.map(idToBytes),
    ]),
  );
}

export async function updateEmailInclude(
  workspaceId: string,
  { id, content, updatedAt }: EmailIncludeRecord,
): Promise<void> {
  await query(
    `UPDATE email_includes ${byId} SET content = ?, updated_at = ? WHERE workspace_id = ? AND id = ?`,
    [content, updatedAt, idToBytes(workspaceId), idToBytes(id)],
  );
}

export async function deleteEmailInclude(workspaceId: string, id: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'DELETE FROM email_includes WHERE workspace_id = ? AND id = ?',
    [idToBytes(workspaceId), idToBytes(id)],
  );
  return affectedRows === 1;
}
