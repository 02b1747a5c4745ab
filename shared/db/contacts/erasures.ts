import { idToBytes } from '../../formats/ids.ts';
import { binaryText, id, time } from '../client/columns.ts';
import { insertRow } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, execute } from '../client.ts';

export const contactErasures = table('contact_erasures', {
  contactId: id('contact'),
  workspaceId: id('workspace'),
  number: binaryText(),
  createdAt: time().nullable(),
});
/** A contact that is gone and whose texts may still have its id. */
export type ContactErasure = RecordOf<typeof contactErasures>;

export function insertContactErasure(workspaceId: string, erasure: ContactErasure): Promise<void> {
  return insertRow(workspaceId, contactErasures, erasure);
}

export async function deleteContactErasure(workspaceId: string, contactId: string): Promise<void> {
  await execute(`DELETE e FROM contact_erasures e ${byId} WHERE contact_id = ? AND workspace_id = ?`, [
    idToBytes(contactId),
    idToBytes(workspaceId),
  ]);
}
