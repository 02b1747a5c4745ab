import { idToBytes } from '../../formats/ids.ts';
import { id, text, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, execute, query } from '../client.ts';

/** A business that a workspace sends for. */
export const businessProfiles = table('business_profiles', {
  id: id('profile'),
  workspaceId: id('workspace'),
  name: text(),
  status: text<'unverified' | 'verified'>(),
  createdAt: time(),
});
export type BusinessProfileRecord = RecordOf<typeof businessProfiles>;

export async function insertBusinessProfile(
  workspaceId: string,
  record: BusinessProfileRecord,
): Promise<void> {
  await query('INSERT INTO business_profiles SET ?', [
    { ...businessProfiles.toRow(record), workspace_id: idToBytes(workspaceId) },
  ]);
}

export async function findBusinessProfile(
  workspaceId: string,
  id: string,
): Promise<BusinessProfileRecord | null> {
  return businessProfiles.toFirst(
    await execute(`SELECT * FROM business_profiles ${byId} WHERE id = ? AND workspace_id = ?`, [
      idToBytes(id),
      idToBytes(workspaceId),
    ]),
  );
}

/** Newest first, all of them: the operator makes them. */
export async function listBusinessProfiles(workspaceId: string): Promise<BusinessProfileRecord[]> {
  return businessProfiles.toRecords(
    await query('SELECT * FROM business_profiles WHERE workspace_id = ? ORDER BY id DESC', [
      idToBytes(workspaceId),
    ]),
  );
}

export async function updateBusinessProfileVerified(workspaceId: string, id: string): Promise<void> {
  await execute(
    `UPDATE business_profiles ${byId} SET status = 'verified' WHERE id = ? AND workspace_id = ?`,
    [idToBytes(id), idToBytes(workspaceId)],
  );
}
