import { listOverdueListWork } from '../../db/system/contact-list-copies.ts';
import { copyContacts } from '../../jobs/copy-contacts.ts';
import { countContacts } from '../../jobs/count-contacts.ts';
import { wakeOverdue } from '../../work/overdue.ts';

/** Wakes copies and countings that nobody has taken in hand; returns how many there are. */
export async function sweep(overdueBefore: Date, limit: number): Promise<number> {
  const due = await listOverdueListWork(overdueBefore, limit);
  const copies = due.flatMap(({ copyId, ...row }) =>
    copyId === null ? [] : { ...row, id: copyId, payload: { copyId } },
  );
  const counts = due.flatMap(({ copyId, workspaceId, ...row }) =>
    copyId === null ? { ...row, id: workspaceId, payload: { workspaceId } } : [],
  );
  return (await wakeOverdue(copyContacts, copies)) + (await wakeOverdue(countContacts, counts));
}
