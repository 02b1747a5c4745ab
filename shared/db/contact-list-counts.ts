import { idFromBytes, idToBytes } from '../formats/ids.ts';
import type { ContactFilter } from '../schemas/contacts.ts';
import { byId, type Changed, execute, query, type Row } from './client.ts';

/** The counting of a workspace's dynamic lists, which goes on as a job. */

/** The list in hand, with the filter that it is counted by, and how far that has come. */
export type Progress = {
  listId: string;
  filter: ContactFilter;
  afterContactId: string | null;
  counted: number;
  beganAt: Date;
  workedMs: number;
};

/** Has these lists counted; returns how often the workspace's counting has been claimed, or null where nothing is new. */
export async function updateCountsWanted(
  workspaceId: string,
  listIds: string[],
  at: Date,
): Promise<number | null> {
  const workspace = idToBytes(workspaceId);
  // Somebody who has one of them in hand is not waited for: it is asked for again.
  const rows = await query(
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
  const [row] = await execute('SELECT claims FROM contact_list_counts WHERE workspace_id = ?', [workspace]);
  return row!.claims;
}

type Claim = { token: Buffer; at: Date; until: Date };

/** Takes the counting for this worker until the lease ends; false when none is due, or somebody else has it. */
export async function claimCounting(
  workspaceId: string,
  { token, at, until }: Claim,
): Promise<{ progress: Progress | null } | null> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE contact_list_counts ${byId} SET lease_token = ?, due_at = ?, claims = claims + 1
     WHERE workspace_id = ? AND due_at <= ?`,
    [token, until, idToBytes(workspaceId), at],
  );
  if (affectedRows === 0) return null;
  const [row] = await execute('SELECT * FROM contact_list_counts WHERE workspace_id = ?', [
    idToBytes(workspaceId),
  ]);
  return { progress: row ? toProgress(row) : null };
}

/** The list whose count has been wanted for longest. */
export async function findCountWanted(
  workspaceId: string,
): Promise<{ listId: string; filter: ContactFilter } | null> {
  const [row] = await execute(
    `SELECT id, filter FROM contact_lists FORCE INDEX (contact_lists_listed)
     WHERE workspace_id = ? AND count_wanted_at IS NOT NULL ORDER BY count_wanted_at, id LIMIT 1`,
    [idToBytes(workspaceId)],
  );
  return row ? { listId: idFromBytes('list', row.id), filter: JSON.parse(row.filter) } : null;
}

/** How far the counting has come; the lease is longer by that. False: it is no longer this worker's. */
export async function updateCounting(
  workspaceId: string,
  { token, until }: Omit<Claim, 'at'>,
  progress: Progress | null,
): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE contact_list_counts ${byId} SET due_at = ?, list_id = ?, filter = ?, after_contact_id = ?, counted = ?,
       began_at = ?, worked_ms = ? WHERE workspace_id = ? AND lease_token = ?`,
    [
      until,
      progress && idToBytes(progress.listId),
      progress && JSON.stringify(progress.filter),
      progress?.afterContactId ? idToBytes(progress.afterContactId) : null,
      progress?.counted ?? 0,
      progress?.beganAt ?? null,
      Math.round(progress?.workedMs ?? 0),
      idToBytes(workspaceId),
      token,
    ],
  );
  return affectedRows === 1;
}

/**
 * Lets go of the counting, which is due again then if another count is wanted; returns whether it is. Belongs into a
 * transaction: what is wanted meanwhile waits for its end, and is then due.
 */
export async function updateCountingReleased(
  workspaceId: string,
  token: Buffer,
  dueAt: Date,
): Promise<boolean> {
  const own = [idToBytes(workspaceId), token];
  const [row] = await execute(
    `SELECT 1 FROM contact_list_counts ${byId} WHERE workspace_id = ? AND lease_token = ? FOR UPDATE`,
    own,
  );
  if (!row) return false;
  const isWanted = (await findCountWanted(workspaceId)) !== null;
  await execute(
    `UPDATE contact_list_counts ${byId} SET lease_token = NULL, due_at = ? WHERE workspace_id = ? AND lease_token = ?`,
    [isWanted ? dueAt : null, ...own],
  );
  return isWanted;
}

function toProgress(row: Row): Progress | null {
  if (!row.list_id) return null;
  return {
    listId: idFromBytes('list', row.list_id),
    filter: JSON.parse(row.filter),
    afterContactId: row.after_contact_id && idFromBytes('contact', row.after_contact_id),
    counted: row.counted,
    beganAt: row.began_at,
    workedMs: row.worked_ms,
  };
}
