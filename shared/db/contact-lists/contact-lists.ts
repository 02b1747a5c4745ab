import { idToBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { id, int, json, text, time } from '../client/columns.ts';
import { listNewest, type Page } from '../client/listing.ts';
import { deleteRow, rowsOf, updateRow } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, changeRow, execute, query } from '../client.ts';

/** The static and dynamic contact lists of a workspace, without their members. */

export const contactLists = table('contact_lists', {
  id: id('list'),
  name: text(),
  description: text().nullable(),
  kind: text<'static' | 'dynamic'>(),
  /** The filter of a dynamic list; null for a static one. */
  filter: json<ContactFilter>().nullable(),
  /** A static list: the number of its members, kept with them. A dynamic list: its last count, or an estimate. */
  memberCount: int(),
  /** When a dynamic list was counted; null: no count of it has ended yet. */
  countedAt: time().nullable(),
  /** Until then a dynamic list is not counted again. */
  countedUntil: time().nullable(),
  /** Since when a dynamic list waits for a count. */
  countWantedAt: time().nullable(),
  createdAt: time(),
  updatedAt: time(),
});
const counts = contactLists.pick('memberCount', 'countedAt', 'countedUntil');
const described = contactLists.pick('name', 'description', 'filter', 'updatedAt');
export type ContactListRecord = RecordOf<typeof contactLists>;

export const {
  insert: insertContactList,
  find: findContactList,
  findForUpdate: findContactListForUpdate,
  listByIds: listContactListsByIds,
  findCount: findContactListCount,
} = rowsOf(contactLists);

/** Newest first. */
export async function listContactLists(workspaceId: string, page: Page): Promise<ContactListRecord[]> {
  return listNewest(workspaceId, { table: contactLists, index: 'contact_lists_listed' }, page);
}

/**
 * Writes the name, description and filter of a record that was locked in this transaction; if dynamic, its count too.
 */
export function updateContactList(workspaceId: string, record: ContactListRecord): Promise<void> {
  return updateRow(workspaceId, described, record, record.kind === 'dynamic' ? counts.toRow(record) : {});
}

export type ListCount = RecordOf<typeof counts>;

/** Writes the count of a dynamic list, if its filter is still the one that was counted. */
export async function updateCounted(
  workspaceId: string,
  { id, filter }: Pick<ContactListRecord, 'id' | 'filter'>,
  counted: ListCount,
): Promise<void> {
  await query(
    `UPDATE contact_lists ${byId} SET ?, count_wanted_at = NULL
     WHERE workspace_id = ? AND id = ? AND kind = 'dynamic' AND filter = ?`,
    [counts.toRow(counted), idToBytes(workspaceId), idToBytes(id), JSON.stringify(filter)],
  );
}

/** Adds `by` to the count, in the transaction that changes the members. False: there is no such list. */
export function updateMemberCount(workspaceId: string, listId: string, by: number): Promise<boolean> {
  return changeRow(
    `UPDATE contact_lists ${byId} SET member_count = member_count + ? WHERE workspace_id = ? AND id = ?`,
    [by, idToBytes(workspaceId), idToBytes(listId)],
  );
}

/** Deletes the list; its members are deleted later. */
export async function deleteContactList(workspaceId: string, id: string): Promise<boolean> {
  if (!(await deleteRow(workspaceId, contactLists, { id }))) return false;
  await execute('INSERT IGNORE INTO contact_list_removals (list_id) VALUES (?)', [idToBytes(id)]);
  return true;
}
