import { idToBytes } from '../../formats/ids.ts';
import { id, text, time } from '../client/columns.ts';
import { listRows, rowsOf } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, execute } from '../client.ts';

/** A business that a workspace sends for. */
export const businessProfiles = table('business_profiles', {
  id: id('profile'),
  workspaceId: id('workspace'),
  name: text(),
  status: text<'unverified' | 'verified'>(),
  createdAt: time(),
});
export type BusinessProfileRecord = RecordOf<typeof businessProfiles>;

export const { insert: insertBusinessProfile, find: findBusinessProfile } = rowsOf(businessProfiles);

/** Newest first, all of them: the operator makes them. */
export function listBusinessProfiles(workspaceId: string): Promise<BusinessProfileRecord[]> {
  return listRows(workspaceId, businessProfiles, {}, 'id DESC');
}

export async function updateBusinessProfileVerified(workspaceId: string, id: string): Promise<void> {
  await execute(
    `UPDATE business_profiles ${byId} SET status = 'verified' WHERE id = ? AND workspace_id = ?`,
    [idToBytes(id), idToBytes(workspaceId)],
  );
}
