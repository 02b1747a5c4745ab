import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { execute, query } from '../client.ts';

/** A template or include that names an include in its source. */
type IncludeUser = { kind: 'template' | 'include'; id: string };
type IncludeUse = { name: string; user: IncludeUser };

/** Stores the names of the includes that this user names, in place of the earlier ones. */
export async function insertIncludeUses(
  workspaceId: string,
  user: IncludeUser,
  names: string[],
): Promise<void> {
  await deleteIncludeUses(workspaceId, user.id);
  if (names.length === 0) return;
  await query('INSERT INTO email_include_uses (workspace_id, include_name, user_id, user_kind) VALUES ?', [
    names.map((name) => [idToBytes(workspaceId), Buffer.from(name), idToBytes(user.id), user.kind]),
  ]);
}

export async function deleteIncludeUses(workspaceId: string, userId: string): Promise<void> {
  // The index is forced; otherwise a nearly empty table is locked for all workspaces.
  await execute(
    `DELETE u FROM email_include_uses u FORCE INDEX (email_include_uses_of_user)
     WHERE u.workspace_id = ? AND u.user_id = ?`,
    [idToBytes(workspaceId), idToBytes(userId)],
  );
}

/** Lists the uses of includes by other includes. */
export async function listUsesByIncludes(workspaceId: string): Promise<IncludeUse[]> {
  const rows = await execute<{ include_name: Buffer; user_id: Buffer }[]>(
    "SELECT include_name, user_id FROM email_include_uses WHERE workspace_id = ? AND user_kind = 'include'",
    [idToBytes(workspaceId)],
  );
  return rows.map((row) => ({
    name: row.include_name.toString(),
    user: { kind: 'include', id: idFromBytes('include', row.user_id) },
  }));
}

/** The id of a template that names one of these, if there is any. */
export async function findTemplateUsing(workspaceId: string, names: string[]): Promise<string | null> {
  if (names.length === 0) return null;
  const [row] = await query<{ user_id: Buffer }[]>(
    `SELECT user_id FROM email_include_uses
     WHERE workspace_id = ? AND include_name IN (?) AND user_kind = 'template' LIMIT 1`,
    [idToBytes(workspaceId), names.map((name) => Buffer.from(name))],
  );
  return row ? idFromBytes('etemplate', row.user_id) : null;
}
