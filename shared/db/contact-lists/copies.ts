import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { execute, query } from '../client.ts';

export type CopyRequest = { sources: string[]; excluded: string[]; filter: ContactFilter };

/** Its id is the hexadecimal form of a UUID: no caller sees it. */
export type NewCopy = {
  id: string;
  listId: string;
  request: CopyRequest;
  requestId: string | null;
  parked: boolean;
  createdAt: Date;
};

/** Throws the database's duplicate-key error where a copy into this list is running. */
export async function insertCopy(workspaceId: string, copy: NewCopy): Promise<void> {
  const listId = idToBytes(copy.listId);
  await query('INSERT INTO contact_list_copies SET ?', [
    {
      id: Buffer.from(copy.id, 'hex'),
      workspace_id: idToBytes(workspaceId),
      list_id: listId,
      running_list_id: listId,
      request: JSON.stringify(copy.request),
      due_at: copy.createdAt,
      parked: copy.parked,
      request_id: copy.requestId === null ? null : Buffer.from(copy.requestId),
      created_at: copy.createdAt,
    },
  ]);
}

export type CopyProgress = { added: number; skipped: number; isRunning: boolean };

export async function findCopyProgress(workspaceId: string, copyId: string): Promise<CopyProgress | null> {
  const [row] = await execute<{ added: number; skipped: number; running_list_id: Buffer | null }[]>(
    'SELECT added, skipped, running_list_id FROM contact_list_copies WHERE workspace_id = ? AND id = ?',
    [idToBytes(workspaceId), Buffer.from(copyId, 'hex')],
  );
  return row ? { added: row.added, skipped: row.skipped, isRunning: row.running_list_id !== null } : null;
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

/** Ends the copy into this list, if one is running; the members that were copied so far stay. */
export async function updateCopyStopped(workspaceId: string, listId: string, at: Date): Promise<void> {
  await execute(
    `UPDATE contact_list_copies FORCE INDEX (contact_list_copies_running)
     SET running_list_id = NULL, due_at = NULL, lease_token = NULL, completed_at = ?
     WHERE running_list_id = ? AND workspace_id = ?`,
    [at, idToBytes(listId), idToBytes(workspaceId)],
  );
}
