import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { binaryText, boolean, hexId, id, int, json, time } from '../client/columns.ts';
import { insertRow } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { execute, query } from '../client.ts';

type CopyRequest = { sources: string[]; excluded: string[]; filter: ContactFilter };

export const copies = table('contact_list_copies', {
  /** No caller sees it. */
  id: hexId(),
  workspaceId: id('workspace'),
  listId: id('list'),
  /** The same list while the copy is running; null when it is over. */
  runningListId: id('list').nullable(),
  request: json<CopyRequest>(),
  /** The place that the copy has reached: the index of the source that is being read, and the last contact of it. */
  sourceIndex: int(),
  afterContactId: id('contact').nullable(),
  added: int(),
  skipped: int(),
  dueAt: time().nullable(),
  parked: boolean(),
  claims: int(),
  requestId: binaryText().nullable(),
  createdAt: time(),
});
const started = copies.omit('sourceIndex', 'afterContactId', 'added', 'skipped', 'claims');
export type NewCopy = Omit<RecordOf<typeof started>, 'workspaceId' | 'runningListId' | 'dueAt'>;

/** Throws the database's duplicate-key error where a copy into this list is running. */
export function insertCopy(workspaceId: string, copy: NewCopy): Promise<void> {
  const { listId, createdAt } = copy;
  return insertRow(workspaceId, started, { ...copy, workspaceId, runningListId: listId, dueAt: createdAt });
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
