import { now } from '../../../../common/clock.ts';
import { config } from '../../../../config/config.ts';
import { type ContactRecord, listContactsByIds } from '../../../../db/contacts/contacts.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import { type BatchRow, insertBatchRows } from '../../../../db/sms/batches/rows.ts';
import * as contactLists from '../../../contact-lists/contact-lists.ts';
import * as waiting from '../../../work/waiting.ts';
import { type BatchLease, type BatchProgress, changeHeld } from './held.ts';
import { readUpToDate } from './read-up-to-date.ts';

// Few enough that nobody waits for the rows of one step.
const contactsAtOnce = 1_000;

type Members = Awaited<ReturnType<typeof nextMembers>>;

/** Returns whether members of the batch's lists are still to be copied into rows. */
export const isCopying = ({ lists, listIndex }: Pick<SmsBatchRecord, 'lists' | 'listIndex'>): boolean =>
  lists !== null && listIndex < lists.listIds.length;

/**
 * Returns the members that come next; null where the workspace has no room for more rows. The room was checked when the
 * batch was accepted, but lists grow, and a scheduled batch is copied days later.
 */
export async function membersWithRoom(batch: SmsBatchRecord): Promise<Members | null> {
  const members = await readUpToDate(batch, () => nextMembers(batch));
  const hasRoom = await waiting.hasRoom(batch.workspaceId, { messages: members.contacts.length, bytes: 0 });
  return hasRoom ? members : null;
}

/** Copies members of the lists into rows, each number once, as the lists were when the batch began. */
export async function copyMembers(
  hold: BatchLease,
  { workspaceId, listIndex, listAfter }: SmsBatchRecord,
  { contacts, next }: Members,
): Promise<BatchProgress> {
  return changeHeld(hold, async (held) => {
    if (held.listIndex !== listIndex || held.listAfter !== listAfter)
      throw new Error('A claimed batch was changed by somebody else');
    const rows = contacts.map((contact, index) => rowOf(contact, held.rowCount + index));
    await insertBatchRows(workspaceId, { batchId: held.id, at: now(), once: true, bytes: 0 }, rows);
    return { batch: { ...held, rowCount: held.rowCount + rows.length, ...next }, isReleased: false };
  });
}

/** The place that the reading of a batch's lists has reached. */
type ListPosition = Pick<SmsBatchRecord, 'listIndex' | 'listAfter'>;

/** Returns the next members of the lists that get a message. `read`: how many members they were chosen from. */
export async function nextMembers(
  batch: Pick<SmsBatchRecord, 'workspaceId' | 'lists' | 'startedAt'> & ListPosition,
): Promise<{ contacts: ContactRecord[]; read: number; next: ListPosition }> {
  const { workspaceId, lists, listIndex, listAfter } = batch;
  const { listIds, excludeLists } = lists!;
  const { ids, read, reached } = await contactLists.membersAfter(workspaceId, listIds[listIndex]!, {
    after: listAfter,
    until: batch.startedAt!,
    // With a smaller MAX_WAITING_ROWS, a larger step would never find room.
    limit: Math.min(contactsAtOnce, config.MAX_WAITING_ROWS || contactsAtOnce),
    filter: {},
    excluded: await contactLists.findLists(workspaceId, excludeLists),
  });
  const contacts = await listContactsByIds(workspaceId, ids);
  const next = { listIndex: reached === null ? listIndex + 1 : listIndex, listAfter: reached };
  return { contacts, read, next };
}

/** Makes the row of a list's member. */
export function rowOf({ id, number, country }: ContactRecord, position: number): BatchRow {
  return {
    position,
    number,
    country,
    contactId: id,
    sender: null,
    content: null,
    unicode: null,
    clientReference: null,
    data: null,
  };
}
