import { idToBytes } from '../../formats/ids.ts';
import { binaryText, id } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, execute } from '../client.ts';

export const contactErasures = table('contact_erasures', {
  contactId: id('contact'),
  workspaceId: id('workspace'),
  number: binaryText(),
});
/** A contact that is gone and whose texts may still have its id. */
export type ContactErasure = RecordOf<typeof contactErasures>;

export async function insertContactErasure(
  workspaceId: string,
  erasure: ContactErasure,
  at: Date,
): Promise<void> {
  await execute(
    'INSERT INTO contact_erasures (contact_id, workspace_id, number, created_at) VALUES (?, ?, ?, ?)',
    [idToBytes(erasure.contactId), idToBytes(workspaceId), Buffer.from(erasure.number), at],
  );
}

export async function deleteContactErasure(workspaceId: string, contactId: string): Promise<void> {
  await execute(`DELETE e FROM contact_erasures e ${byId} WHERE contact_id = ? AND workspace_id = ?`, [
    idToBytes(contactId),
    idToBytes(workspaceId),
  ]);
}
