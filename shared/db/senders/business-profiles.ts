import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, execute, query, type Row } from '../client.ts';

/** A business that a workspace sends for. */
export type BusinessProfileRecord = {
  id: string;
  workspaceId: string;
  name: string;
  status: 'unverified' | 'verified';
  createdAt: Date;
};

export async function insertBusinessProfile(
  workspaceId: string,
  record: BusinessProfileRecord,
): Promise<void> {
  await query('INSERT INTO business_profiles SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      name: record.name,
      status: record.status,
      created_at: record.createdAt,
    },
  ]);
}

export async function findBusinessProfile(
  workspaceId: string,
  id: string,
): Promise<BusinessProfileRecord | null> {
  const [row] = await execute(`SELECT * FROM business_profiles ${byId} WHERE id = ? AND workspace_id = ?`, [
    idToBytes(id),
    idToBytes(workspaceId),
  ]);
  return row ? toRecord(row) : null;
}

/** Newest first, all of them: the operator makes them. */
export async function listBusinessProfiles(workspaceId: string): Promise<BusinessProfileRecord[]> {
  const rows = await query('SELECT * FROM business_profiles WHERE workspace_id = ? ORDER BY id DESC', [
    idToBytes(workspaceId),
  ]);
  return rows.map(toRecord);
}

export async function updateBusinessProfileVerified(workspaceId: string, id: string): Promise<void> {
  await execute(
    `UPDATE business_profiles ${byId} SET status = 'verified' WHERE id = ? AND workspace_id = ?`,
    [idToBytes(id), idToBytes(workspaceId)],
  );
}

export function toRecord(row: Row): BusinessProfileRecord {
  return {
    id: idFromBytes('profile', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    name: row.name,
    status: row.status,
    createdAt: row.created_at,
  };
}
