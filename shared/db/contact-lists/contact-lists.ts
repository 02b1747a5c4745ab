import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { listNewest, type Page } from '../client/listing.ts';
import { byId, type Changed, execute, query, type Row } from '../client.ts';

export type ContactListRecord = {
  id: string;
  name: string;
  description: string | null;
  kind: 'static' | 'dynamic';
  /** Of a dynamic list. */
  filter: ContactFilter | null;
  /** Of a static list, kept with its members; of a dynamic one, what was counted last, or an estimate. */
  memberCount: number;
  /** Of a dynamic list: when it was counted; null: not yet to the end. */
  countedAt: Date | null;
  /** Of a dynamic list: until then it is not counted again. */
  countedUntil: Date | null;
  /** Of a dynamic list: since when a count is waited for. */
  countWantedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

export async function insertContactList(workspaceId: string, record: ContactListRecord): Promise<void> {
  await query('INSERT INTO contact_lists SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      name: record.name,
      description: record.description,
      kind: record.kind,
      filter: toText(record.filter),
      ...counts(record),
      created_at: record.createdAt,
      updated_at: record.updatedAt,
    },
  ]);
}

export async function findContactList(workspaceId: string, id: string): Promise<ContactListRecord | null> {
  const [row] = await execute('SELECT * FROM contact_lists WHERE workspace_id = ? AND id = ?', [
    idToBytes(workspaceId),
    idToBytes(id),
  ]);
  return row ? toRecord(row) : null;
}

/** Locked until the transaction ends. */
export async function findContactListForUpdate(
  workspaceId: string,
  id: string,
): Promise<ContactListRecord | null> {
  const [row] = await execute(
    `SELECT * FROM contact_lists ${byId} WHERE workspace_id = ? AND id = ? FOR UPDATE`,
    [idToBytes(workspaceId), idToBytes(id)],
  );
  return row ? toRecord(row) : null;
}

/** Newest first. */
export async function listContactLists(workspaceId: string, page: Page): Promise<ContactListRecord[]> {
  const rows = await listNewest(workspaceId, { table: 'contact_lists', index: 'contact_lists_listed' }, page);
  return rows.map(toRecord);
}

/** The ones among these that exist. */
export async function listContactListsByIds(
  workspaceId: string,
  ids: string[],
): Promise<ContactListRecord[]> {
  if (ids.length === 0) return [];
  const rows = await query('SELECT * FROM contact_lists WHERE workspace_id = ? AND id IN (?)', [
    idToBytes(workspaceId),
    ids.map(idToBytes),
  ]);
  return rows.map(toRecord);
}

/** How many lists the workspace has. */
export async function findContactListCount(workspaceId: string): Promise<number> {
  const [row] = await execute('SELECT COUNT(*) AS lists FROM contact_lists WHERE workspace_id = ?', [
    idToBytes(workspaceId),
  ]);
  return Number(row!.lists);
}

/** Name, description, filter and how many it finds, of a record that was locked in this transaction. */
export async function updateContactList(workspaceId: string, record: ContactListRecord): Promise<void> {
  const { name, description, filter, updatedAt } = record;
  await query(`UPDATE contact_lists ${byId} SET ? WHERE workspace_id = ? AND id = ?`, [
    {
      name,
      description,
      filter: toText(filter),
      updated_at: updatedAt,
      ...(record.kind === 'dynamic' && counts(record)),
    },
    idToBytes(workspaceId),
    idToBytes(record.id),
  ]);
}

export type Counted = Pick<ContactListRecord, 'memberCount' | 'countedAt' | 'countedUntil'>;

/** The count of a dynamic list, if its filter is still the one that was counted by. */
export async function updateCounted(
  workspaceId: string,
  { id, filter }: Pick<ContactListRecord, 'id' | 'filter'>,
  counted: Counted,
): Promise<void> {
  await query(
    `UPDATE contact_lists ${byId} SET ?, count_wanted_at = NULL
     WHERE workspace_id = ? AND id = ? AND kind = 'dynamic' AND filter = ?`,
    [counts(counted), idToBytes(workspaceId), idToBytes(id), toText(filter)],
  );
}

function counts({ memberCount, countedAt, countedUntil }: Counted) {
  return { member_count: memberCount, counted_at: countedAt, counted_until: countedUntil };
}

/** Belongs into the transaction that changes the members. False: there is no such list. */
export async function updateMemberCount(workspaceId: string, listId: string, by: number): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE contact_lists ${byId} SET member_count = member_count + ? WHERE workspace_id = ? AND id = ?`,
    [by, idToBytes(workspaceId), idToBytes(listId)],
  );
  return affectedRows === 1;
}

/** The list; its members follow later. */
export async function deleteContactList(workspaceId: string, id: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'DELETE FROM contact_lists WHERE workspace_id = ? AND id = ?',
    [idToBytes(workspaceId), idToBytes(id)],
  );
  if (affectedRows === 0) return false;
  await execute('INSERT IGNORE INTO contact_list_removals (list_id) VALUES (?)', [idToBytes(id)]);
  return true;
}

function toText(filter: ContactFilter | null): string | null {
  return filter && JSON.stringify(filter);
}

function toRecord(row: Row): ContactListRecord {
  return {
    id: idFromBytes('list', row.id),
    name: row.name,
    description: row.description,
    kind: row.kind,
    filter: row.filter === null ? null : JSON.parse(row.filter),
    memberCount: row.member_count,
    countedAt: row.counted_at,
    countedUntil: row.counted_until,
    countWantedAt: row.count_wanted_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
