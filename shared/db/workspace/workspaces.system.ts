import { idToBytes } from '../../formats/ids.ts';
import { query } from '../client.ts';
import { type WorkspaceRecord, workspaces } from './workspaces.ts';

/** Every workspace, oldest first: for the operator. */
export async function listWorkspaces(): Promise<WorkspaceRecord[]> {
  return workspaces.toRecords(await query('SELECT * FROM workspaces ORDER BY id'));
}

/** Inserts a workspace; changes nothing when it exists already. */
export async function insertSystemWorkspace(record: WorkspaceRecord): Promise<void> {
  await query('INSERT IGNORE INTO workspaces SET ?', [workspaces.toRow(record)]);
}

/** The workspaces of these ids; those that are gone are left out. */
export async function listWorkspacesOf(workspaceIds: string[]): Promise<WorkspaceRecord[]> {
  if (workspaceIds.length === 0) return [];
  return workspaces.toRecords(
    await query('SELECT * FROM workspaces WHERE id IN (?)', [workspaceIds.map(idToBytes)]),
  );
}
