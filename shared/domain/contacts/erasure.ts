import { listContactErasures } from '../../db/contacts/erasures.system.ts';
import { type ContactErasure, deleteContactErasure } from '../../db/contacts/erasures.ts';
import { eraseSmsContact } from '../../db/sms/contacts.ts';

/** A request that deletes a contact works on the contact's texts for this time at most; then the job goes on. */
export const erasesWithinMs = 10_000;

/**
 * Makes the texts of a deleted contact forget whose they were, in steps that each commit: a number can have any number
 * of texts, and one transaction over all of them would hold up their senders. Nothing shows the contact's id
 * meanwhile, and the job goes on where this does not come to the end.
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

/** Finishes some erasures that the process which began them left undone; returns how many it has looked at. */
export async function finishErasures(limit: number, isStopping: () => boolean): Promise<number> {
  const erasures = await listContactErasures(limit);
  for (const erasure of erasures) if (!isStopping()) await eraseTexts(erasure, isStopping);
  return erasures.length;
}
