import { idToBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { byId, execute, query } from '../client.ts';
import { contactLists } from './contact-lists.ts';

/** The workspace's dynamic lists that wait for a count. */

/** Requests a count of these lists; returns how often the counting has been claimed, or null where nothing is new. */
export async function updateCountsWanted(
  workspaceId: string,
  listIds: string[],
  at: Date,
): Promise<number | null> {
  const workspace = idToBytes(workspaceId);
  // A list that another transaction has locked is skipped instead of waited for: its count is requested again later.
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM contact_lists ${byId}
     WHERE workspace_id = ? AND id IN (?) AND count_wanted_at IS NULL AND kind = 'dynamic'
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    [workspace, listIds.map(idToBytes)],
  );
  if (rows.length === 0) return null;
  await query(`UPDATE contact_lists ${byId} SET count_wanted_at = ? WHERE workspace_id = ? AND id IN (?)`, [
    at,
    workspace,
    rows.map(({ id }) => id),
  ]);
  await execute(
    `INSERT INTO contact_list_counts (workspace_id, due_at) VALUES (?, ?)
     ON DUPLICATE KEY UPDATE due_at = COALESCE(due_at, ?)`,
    [workspace, at, at],
  );
  const [row] = await execute<{ claims: number }[]>(
    'SELECT claims FROM contact_list_counts WHERE workspace_id = ?',
    [workspace],
  );
  return row!.claims;
}

const wanted = contactLists.pick('id', 'filter');

/** The list whose count has been wanted for longest. */
export async function findCountWanted(
  workspaceId: string,
): Promise<{ listId: string; filter: ContactFilter } | null> {
  const list = wanted.toFirst(
    await execute(
      `SELECT id, filter FROM contact_lists FORCE INDEX (contact_lists_listed)
     WHERE workspace_id = ? AND count_wanted_at IS NOT NULL ORDER BY count_wanted_at, id LIMIT 1`,
      [idToBytes(workspaceId)],
    ),
  );
  return list && { listId: list.id, filter: list.filter! };
}
