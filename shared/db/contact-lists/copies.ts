import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { hexId, id, int, json, time } from '../client/columns.ts';
import { findRow, insertRow } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { execute, query } from '../client.ts';
import { workColumns } from '../work/columns.ts';

type CopyRequest = { sources: string[]; excluded: string[]; filter: ContactFilter };

export const copies = table('contact_list_copies', {
  /** No caller sees it. */
  id: hexId(),
  workspaceId: id('workspace'),
  listId: id('list'),
  /** The same list, until the copy is over. */
  runningListId: id('list').nullable(),
  request: json<CopyRequest>(),
  /** The place that the copy has reached: the index of the source that is being read, and the last contact of it. */
  sourceIndex: int(),
  afterContactId: id('contact').nullable(),
  added: int(),
  skipped: int(),
  ...workColumns,
  createdAt: time(),
});
const begun = copies.omit('sourceIndex', 'afterContactId', 'added', 'skipped', 'claims');
export type NewCopy = Omit<RecordOf<typeof begun>, 'workspaceId' | 'runningListId' | 'dueAt'>;

/** Throws the database's duplicate-key error where a copy into this list is running. */
export function insertCopy(workspaceId: string, copy: NewCopy): Promise<void> {
  const { listId, createdAt } = copy;
  return insertRow(workspaceId, begun, { ...copy, workspaceId, runningListId: listId, dueAt: createdAt });
}

const progress = copies.pick('id', 'added', 'skipped', 'runningListId');
export type CopyProgress = { added: number; skipped: number; isRunning: boolean };

export async function findCopyProgress(workspaceId: string, copyId: string): Promise<CopyProgress | null> {
  const found = await findRow(workspaceId, progress, { id: copyId });
  return found && { added: found.added, skipped: found.skipped, isRunning: found.runningListId !== null };
}

/** Returns the lists among these that a copy is running into. */
export async function listCopiedInto(workspaceId: string, listIds: string[]): Promise<Set<string>> {
  if (listIds.length === 0) return new Set();
  const rows = await query<{ running_list_id: Buffer }[]>(
    `SELECT running_list_id FROM contact_list_copies FORCE INDEX (contact_list_copies_running)
     WHERE running_list_id IN (?) AND workspace_id = ?`,
    [listIds.map(idToBytes), idToBytes(workspaceId)],
  );
  return new Set(rows.map((row) => idFromBytes('list', row.running_list_id)));
}

/** Tells whether a copy of the workspace that is in progress, into another list, leaves out the contacts of this list. */
export async function findIsLeftOutOfCopy(workspaceId: string, listId: string): Promise<boolean> {
  const rows = await execute<{ request: string }[]>(
    `SELECT request FROM contact_list_copies FORCE INDEX (contact_list_copies_admission)
     WHERE status = 'waiting' AND parked IN (0, 1) AND workspace_id = ? AND list_id <> ?`,
    [idToBytes(workspaceId), idToBytes(listId)],
  );
  return rows.some(({ request }) => (JSON.parse(request) as CopyRequest).excluded.includes(listId));
}

/** SQL that ends a copy; its value is the time. */
export const ended = 'running_list_id = NULL, due_at = NULL, lease_token = NULL, completed_at = ?';

/** Ends the copy into this list, if one is running; the members that were copied so far stay. */
export async function updateCopyStopped(workspaceId: string, listId: string, at: Date): Promise<void> {
  await execute(
    `UPDATE contact_list_copies FORCE INDEX (contact_list_copies_running) SET ${ended}
     WHERE running_list_id = ? AND workspace_id = ?`,
    [at, idToBytes(listId), idToBytes(workspaceId)],
  );
}
