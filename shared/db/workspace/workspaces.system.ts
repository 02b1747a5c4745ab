import { idToBytes } from '../../formats/ids.ts';
import { execute, query } from '../client.ts';
import { toRecord, type WorkspaceRecord } from './workspaces.ts';

/** Every workspace, oldest first: for the operator. */
export async function listWorkspaces(): Promise<WorkspaceRecord[]> {
  return (await query('SELECT * FROM workspaces ORDER BY id')).map(toRecord);
}

/** Changes nothing when it is there. */
export async function insertSystemWorkspace(record: WorkspaceRecord): Promise<void> {
  await execute(
    `INSERT IGNORE INTO workspaces (id, name, country, alert_email, webhooks_enabled, sending_blocked, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [
      idToBytes(record.id),
      record.name,
      record.country,
      record.alertEmail,
      record.webhooksEnabled ? 1 : 0,
      record.sendingBlocked ? 1 : 0,
      record.createdAt,
    ],
  );
}

/** The workspaces of these ids; those that are gone are left out. */
export async function listWorkspacesOf(workspaceIds: string[]): Promise<WorkspaceRecord[]> {
  if (workspaceIds.length === 0) return [];
  const rows = await query('SELECT * FROM workspaces WHERE id IN (?)', [workspaceIds.map(idToBytes)]);
  return rows.map(toRecord);
}
