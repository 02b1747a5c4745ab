import { now } from '../../common/clock.ts';
import { problem } from '../../common/errors.ts';
import * as db from '../../db/contact-lists/contact-lists.ts';
import { findIsLeftOutOfCopy, updateCopyStopped } from '../../db/contact-lists/copies.ts';
import { deleteMembers } from '../../db/contact-lists/members.ts';
import { findIsListLeftOut } from '../../db/sms/batches/lists.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { isId } from '../../formats/ids.ts';
import type { ContactListRemoval } from '../../schemas/contact-lists.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { builtinId, builtinStays, checkStatic, findList } from './record.ts';

/**
 * Deletes a list at once; its memberships are deleted later, in batches, and its contacts stay. A list that an
 * unfinished batch of messages excludes is kept, since without it the contacts in it would get messages. So is one that
 * a copy in progress excludes, since without it the copy would add them.
 */
export async function remove({ workspaceId }: Caller, id: string): Promise<void> {
  if (id === builtinId(workspaceId)) throw builtinStays();
  // With the workspace locked, neither a batch nor a copy that excludes the list is accepted meanwhile.
  await findWorkspaceForUpdate(workspaceId);
  if (await findIsListLeftOut(workspaceId, id))
    throw problem('in_use', {
      detail: `The list ${id} cannot be deleted: a batch excludes its contacts, and not all messages of the batch are made. Cancel the batch, or wait until its messages are made.`,
    });
  if (await findIsLeftOutOfCopy(workspaceId, id))
    throw problem('in_use', {
      detail: `The list ${id} cannot be deleted: a copy into another list is in progress and excludes its contacts. Wait until copyInProgress of that other list is false.`,
    });
  // A batch of a copy locks the copy first and the list last, so the copy comes first here too.
  await updateCopyStopped(workspaceId, id, now());
  if (!(await db.deleteContactList(workspaceId, id))) throw problem('not_found');
}

export async function removeContacts(
  { workspaceId }: Caller,
  id: string,
  { contactIds }: ContactListRemoval,
): Promise<{ removed: number }> {
  checkStatic(await findList(workspaceId, id));
  const ids = [...new Set(contactIds)].filter((contactId) => isId('contact', contactId));
  const removed = await deleteMembers(workspaceId, id, ids);
  if (removed > 0) await db.updateMemberCount(workspaceId, id, -removed);
  return { removed };
}
