import { firstUuidAt } from '../../formats/ids.ts';
import { byId, type Changed, query } from '../client.ts';

/** Ids of changes of balances before then that a message made which is gone, oldest first. */
export async function listSettledEntries(before: Date, limit: number): Promise<Buffer[]> {
  const rows = await query(
    `SELECT l.id FROM sms_ledger l ${byId} LEFT JOIN sms_messages m ON m.id = l.sms_id
     WHERE l.id < ? AND l.sms_id IS NOT NULL AND m.id IS NULL ORDER BY l.id LIMIT ?`,
    [firstUuidAt(before), limit],
  );
  return rows.map((row) => row.id);
}

export type Carried = { workspaceId: Buffer; amount: number };

/** What these entries come to for each workspace; they are locked until the transaction ends. */
export async function listSumsForUpdate(ids: Buffer[]): Promise<Carried[]> {
  const rows = await query(`SELECT workspace_id, amount FROM sms_ledger ${byId} WHERE id IN (?) FOR UPDATE`, [
    ids,
  ]);
  const sums = new Map<string, Carried>();
  for (const row of rows) {
    const name = row.workspace_id.toString('hex');
    const sum = sums.get(name)?.amount ?? 0;
    sums.set(name, { workspaceId: row.workspace_id, amount: sum + Number(row.amount) });
  }
  return [...sums.values()];
}

/**
 * Adds to what a workspace's ledger begins with. That entry has the id of the workspace: there is one, and as the id tells
 * when the workspace was made, it stands before all others.
 */
export async function updateCarried(sums: Carried[], at: Date): Promise<void> {
  if (sums.length === 0) return;
  await query(
    `INSERT INTO sms_ledger (id, workspace_id, kind, amount, sms_id, note, created_at) VALUES ?
     ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount), created_at = VALUES(created_at)`,
    [sums.map(({ workspaceId, amount }) => [workspaceId, workspaceId, 'carried', amount, null, null, at])],
  );
}

export async function deleteEntries(ids: Buffer[]): Promise<number> {
  const { affectedRows } = await query<Changed>(`DELETE l FROM sms_ledger l ${byId} WHERE l.id IN (?)`, [
    ids,
  ]);
  return affectedRows;
}
