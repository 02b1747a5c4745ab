import { query } from '../client.ts';
import { toRecord, type WorkspaceRecord } from '../workspaces.ts';

/** Every workspace, oldest first: for the operator. */
export async function listWorkspaces(): Promise<WorkspaceRecord[]> {
  return (await query('SELECT * FROM workspaces ORDER BY id')).map(toRecord);
}
