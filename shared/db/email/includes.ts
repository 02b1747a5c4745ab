import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, execute, query, type Row } from '../client.ts';

export type EmailIncludeRecord = {
  id: string;
  name: string;
  content: string;
  createdAt: Date;
  updatedAt: Date;
};

export async function insertEmailInclude(workspaceId: string, record: EmailIncludeRecord): Promise<void> {
  await query('INSERT INTO email_includes SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      name: Buffer.from(record.name),
      content: record.content,
      created_at: record.createdAt,
      updated_at: record.updatedAt,
    },
  ]);
}

export async function findEmailInclude(
  workspaceId: string,
  name: string,
): Promise<EmailIncludeRecord | null> {
  const [record] = await listEmailIncludesByNames(workspaceId, [name]);
  return record ?? null;
}

/** The ones among these that exist. */
export async function listEmailIncludesByNames(
  workspaceId: string,
  names: string[],
): Promise<EmailIncludeRecord[]> {
  if (names.length === 0) return [];
  const rows = await query('SELECT * FROM email_includes WHERE workspace_id = ? AND name IN (?)', [
    idToBytes(workspaceId),
    names.map((name) => Buffer.from(name)),
  ]);
  return rows.map(toRecord);
}

/** How many characters those of these that there are have together. */
export async function findEmailIncludesLength(workspaceId: string, names: string[]): Promise<number> {
  if (names.length === 0) return 0;
  const [row] = await query(
    'SELECT SUM(CHAR_LENGTH(content)) AS length FROM email_includes WHERE workspace_id = ? AND name IN (?)',
    [idToBytes(workspaceId), names.map((name) => Buffer.from(name))],
  );
  return Number(row?.['length'] ?? 0);
}

/** The names of all includes of the workspace, by id. */
export async function listEmailIncludeNames(workspaceId: string): Promise<Map<string, string>> {
  const rows = await execute('SELECT id, name FROM email_includes WHERE workspace_id = ?', [
    idToBytes(workspaceId),
  ]);
  return new Map(rows.map((row) => [idFromBytes('include', row['id']), row['name'].toString()]));
}

/** Newest first; `beforeId` is the id that the last page ended with. `length`: of the content, in bytes. */
export async function listEmailIncludeLengths(
  workspaceId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<{ id: string; length: number }[]> {
  const place = beforeId === null ? [] : [idToBytes(beforeId)];
  const rows = await query(
    `SELECT id, LENGTH(content) AS length FROM email_includes FORCE INDEX (email_includes_listed)
     WHERE workspace_id = ? ${beforeId === null ? '' : 'AND id < ?'} ORDER BY id DESC LIMIT ?`,
    [idToBytes(workspaceId), ...place, limit],
  );
  return rows.map((row) => ({ id: idFromBytes('include', row['id']), length: Number(row['length']) }));
}

/** Newest first. */
export async function listEmailIncludesByIds(
  workspaceId: string,
  ids: string[],
): Promise<EmailIncludeRecord[]> {
  if (ids.length === 0) return [];
  const rows = await query(
    'SELECT * FROM email_includes WHERE workspace_id = ? AND id IN (?) ORDER BY id DESC',
    [idToBytes(workspaceId), ids.map(idToBytes)],
  );
  return rows.map(toRecord);
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

function toRecord(row: Row): EmailIncludeRecord {
  return {
    id: idFromBytes('include', row.id),
    name: row.name.toString(),
    content: row.content,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
