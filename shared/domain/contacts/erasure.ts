import { listContactErasures } from '../../db/contacts/erasures.system.ts';
import { type ContactErasure, deleteContactErasure } from '../../db/contacts/erasures.ts';
import { eraseSmsContact } from '../../db/sms/contacts.ts';

/** How long a request that deletes a contact may work on the contact's messages. A job does the rest. */
export const erasesWithinMs = 10_000;

/**
 * Removes the id of a deleted contact from its messages. Each step is a transaction of its own: a number can have any
 * number of messages, and one transaction over all of them would block the workers that send them. No answer shows the
 * contact's id meanwhile. If this function stops early, a job continues.
 */
async function eraseTexts(
  { workspaceId, contactId: id, number }: ContactErasure,
  isOver: () => boolean,
): Promise<void> {
  const steps = eraseSmsContact(workspaceId, { id, number });
  while (!(await steps.next()).done) if (isOver()) return;
  await deleteContactErasure(workspaceId, id);
}

/** Erases as `eraseTexts` does, for no longer than a request may take. */
export async function eraseTextsInRequest(erasure: ContactErasure): Promise<void> {
  const end = performance.now() + erasesWithinMs;
  await eraseTexts(erasure, () => performance.now() > end);
}

/** Finishes erasures that another process began and did not finish; returns how many it has looked at. */
export async function finishErasures(limit: number, isStopping: () => boolean): Promise<number> {
  const erasures = await listContactErasures(limit);
  for (const erasure of erasures) if (!isStopping()) await eraseTexts(erasure, isStopping);
  return erasures.length;
}
