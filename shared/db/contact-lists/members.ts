import { portionsOf } from '../../common/portions.ts';
import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { Page } from '../client/listing.ts';
import { byId, changeRows, execute, query } from '../client.ts';

/** The members of static contact lists. A dynamic list has no rows of members. */

// Keeps statements far below the size that the server accepts.
const idsAtOnce = 1_000;
/** Each list is looked up with each contact. */
const listsAtOnce = 20;

/** Ids of a static list's contacts, newest first. */
export async function listMemberIds(
  workspaceId: string,
  listId: string,
  { limit, before }: Page,
): Promise<string[]> {
  return list(workspaceId, listId, { from: before, limit, compare: '<', order: 'DESC' });
}

/** Returns ids of the contacts that were members by `addedBy`, oldest first, for work that goes through all of them. */
export async function listMemberIdsAfter(
  workspaceId: string,
  listId: string,
  { afterId, addedBy, limit }: { afterId: string | null; addedBy: Date; limit: number },
): Promise<string[]> {
  return list(workspaceId, listId, { from: afterId, limit, compare: '>', order: 'ASC', addedBy });
}

type MemberPage = {
  from: string | null;
  limit: number;
  compare: '<' | '>';
  order: 'ASC' | 'DESC';
  addedBy?: Date;
};

async function list(
  workspaceId: string,
  listId: string,
  { from, limit, compare, order, addedBy }: MemberPage,
): Promise<string[]> {
  const rows = await query<{ contact_id: Buffer }[]>(
    `SELECT contact_id FROM contact_list_members ${byId}
     WHERE list_id = ? ${from === null ? '' : `AND contact_id ${compare} ?`} AND workspace_id = ?
       ${addedBy ? 'AND (added_at IS NULL OR added_at <= ?)' : ''}
     ORDER BY contact_id ${order} LIMIT ?`,
    [
      idToBytes(listId),
      ...(from === null ? [] : [idToBytes(from)]),
      idToBytes(workspaceId),
      ...(addedBy ? [addedBy] : []),
      limit,
    ],
  );
  return rows.map((row) => idFromBytes('contact', row.contact_id));
}

/** Returns the contacts among these that are in any of these static lists. */
export async function listMembersAmong(
  workspaceId: string,
  listIds: string[],
  contactIds: string[],
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const lists of portionsOf(listIds, listsAtOnce))
    for (const contacts of portionsOf(contactIds, idsAtOnce)) {
      const rows = await query<{ contact_id: Buffer }[]>(
        `SELECT contact_id FROM contact_list_members ${byId}
         WHERE list_id IN (?) AND contact_id IN (?) AND workspace_id = ?`,
        [lists.map(idToBytes), contacts.map(idToBytes), idToBytes(workspaceId)],
      );
      for (const row of rows) found.add(idFromBytes('contact', row.contact_id));
    }
  return found;
}

/**
 * Makes the contacts that are not members yet members; `known` is how many of the ids are contacts. The locks are taken
 * on contacts first, then on members, and on the list last. Deleting a contact takes them in the same order.
 */
export async function insertMembers(
  workspaceId: string,
  listId: string,
  contactIds: string[],
  at: Date,
): Promise<{ known: number; added: number }> {
  let known = 0;
  let added = 0;
  const workspace = idToBytes(workspaceId);
  for (const ids of portionsOf(contactIds.toSorted(), idsAtOnce)) {
    // The lock keeps a contact from being deleted before it has become a member.
    const rows = await query<{ id: Buffer }[]>(
      `SELECT id FROM contacts ${byId} WHERE workspace_id = ? AND id IN (?) ORDER BY id FOR UPDATE`,
      [workspace, ids.map(idToBytes)],
    );
    if (rows.length === 0) continue;
    known += rows.length;
    added += await changeRows(
      'INSERT IGNORE INTO contact_list_members (list_id, contact_id, workspace_id, added_at) VALUES ?',
      [rows.map((row) => [idToBytes(listId), row.id, workspace, at])],
    );
  }
  return { known, added };
}

/** Returns how many were members. */
export async function deleteMembers(
  workspaceId: string,
  listId: string,
  contactIds: string[],
): Promise<number> {
  let removed = 0;
  for (const ids of portionsOf(contactIds.toSorted(), idsAtOnce)) {
    removed += await changeRows(
      // The statement compares pairs. With a list and some contact ids, the optimizer may read all rows of the list,
      // and wait for their locks.
      `DELETE m FROM contact_list_members m ${byId} WHERE (m.list_id, m.contact_id) IN (?) AND m.workspace_id = ?`,
      [ids.map((id) => [idToBytes(listId), idToBytes(id)]), idToBytes(workspaceId)],
    );
  }
  return removed;
}

/** Removes a contact from all lists that it is in. */
export async function deleteMemberships(workspaceId: string, id: string): Promise<void> {
  const where = 'contact_list_members FORCE INDEX (contact_list_members_of_contact) WHERE contact_id = ?';
  const rows = await execute<{ list_id: Buffer }[]>(
    `SELECT list_id FROM ${where} ORDER BY list_id FOR UPDATE`,
    [idToBytes(id)],
  );
  if (rows.length === 0) return;
  await query(
    `UPDATE contact_lists ${byId} SET member_count = member_count - 1 WHERE workspace_id = ? AND id IN (?)`,
    [idToBytes(workspaceId), rows.map((row) => row.list_id)],
  );
  await query('DELETE FROM contact_list_members WHERE list_id IN (?) AND contact_id = ?', [
    rows.map((row) => row.list_id),
    idToBytes(id),
  ]);
}
