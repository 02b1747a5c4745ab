import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { binaryText, id, text, time } from '../client/columns.ts';
import { type Length, listLengths, type Page } from '../client/listing.ts';
import { findRow, rowsOf } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { execute, query } from '../client.ts';

const emailIncludes = table('email_includes', {
  id: id('include'),
  name: binaryText(),
  content: text(),
  createdAt: time(),
  updatedAt: time(),
});
export type EmailIncludeRecord = RecordOf<typeof emailIncludes>;

export const {
  insert: insertEmailInclude,
  listByIds: listEmailIncludesByIds,
  update: updateEmailInclude,
  delete: deleteEmailInclude,
} = rowsOf(emailIncludes, emailIncludes.pick('content', 'updatedAt'));

export function findEmailInclude(workspaceId: string, name: string): Promise<EmailIncludeRecord | null> {
  return findRow(workspaceId, emailIncludes, { name });
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
export function listEmailIncludeLengths(workspaceId: string, page: Page): Promise<Length[]> {
  return listLengths(workspaceId, emailIncludes, ['content'], page);
}
