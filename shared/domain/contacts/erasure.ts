import { listContactErasures } from '../../db/contacts/erasures.system.ts';
import { type ContactErasure, deleteContactErasure } from '../../db/contacts/erasures.ts';
import { eraseSmsContact } from '../../db/sms/contacts.ts';

/** A contact that has gone in a request is forgotten by its texts in so much time, or else by the job. */
export const erasesWithinMs = 10_000;

/**
 * The texts of a contact that is gone forget whose they were: in steps that each commit, because a number can have any number
 * of texts, and one transaction over all of them would hold up whoever sends them. Nothing shows the contact's id
 * meanwhile, and the job goes on where this does not come to the end.
 */
export async function eraseTexts(
  { workspaceId, contactId: id, number }: ContactErasure,
  withinMs = Infinity,
): Promise<void> {
  const end = performance.now() + withinMs;
  const steps = eraseSmsContact(workspaceId, { id, number });
  while (!(await steps.next()).done) if (performance.now() > end) return;
  await deleteContactErasure(workspaceId, id);
}

/** Brings some of the erasures to their end that the process which began them has not; returns how many. */
export async function finishErasures(limit: number): Promise<number> {
  const erasures = await listContactErasures(limit);
  for (const erasure of erasures) await eraseTexts(erasure);
  return erasures.length;
}
