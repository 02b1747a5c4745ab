import { listContactErasures } from '../../db/contacts/erasures.system.ts';
import { type ContactErasure, deleteContactErasure } from '../../db/contacts/erasures.ts';
import { eraseSmsContact } from '../../db/sms/contacts.ts';

/** The texts of a contact that a request has deleted forget it within so much time, or else the job goes on. */
export const erasesWithinMs = 10_000;

/**
 * The texts of a contact that is gone forget whose they were: in steps that each commit, because a number can have any number
 * of texts, and one transaction over all of them would hold up whoever sends them. Nothing shows the contact's id
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

/** The same, for no longer than a request may take. */
export async function eraseTextsInRequest(erasure: ContactErasure): Promise<void> {
  const end = performance.now() + erasesWithinMs;
  await eraseTexts(erasure, () => performance.now() > end);
}

/** Brings some of the erasures to their end that the process which began them has not; returns how many it has seen. */
export async function finishErasures(limit: number, isStopping: () => boolean): Promise<number> {
  const erasures = await listContactErasures(limit);
  for (const erasure of erasures) if (!isStopping()) await eraseTexts(erasure, isStopping);
  return erasures.length;
}
