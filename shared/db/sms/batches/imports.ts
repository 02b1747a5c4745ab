import { idToBytes } from '../../../formats/ids.ts';
import { type Changed, execute } from '../../client.ts';

export async function insertSmsImport(workspaceId: string, batchId: string, at: Date): Promise<void> {
  await execute('INSERT INTO sms_imports (batch_id, workspace_id, touched_at) VALUES (?, ?, ?)', [
    idToBytes(batchId),
    idToBytes(workspaceId),
    at,
  ]);
}

/** Of those that somebody has touched since then. */
export async function findSmsImportCount(workspaceId: string, touchedSince: Date): Promise<number> {
  const [row] = await execute<{ imports: number }[]>(
    'SELECT COUNT(*) AS imports FROM sms_imports WHERE workspace_id = ? AND touched_at >= ?',
    [idToBytes(workspaceId), touchedSince],
  );
  return row!.imports;
}

/** Rows of so many bytes come to it. Whether it is still this process's: nobody has taken it for one that was left behind. */
export async function updateSmsImport(
  workspaceId: string,
  batchId: string,
  changes: { touchedAt: Date; addedBytes: number },
): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE sms_imports SET touched_at = ?, stored_bytes = stored_bytes + ?
     WHERE batch_id = ? AND workspace_id = ? AND is_left = 0`,
    [changes.touchedAt, changes.addedBytes, idToBytes(batchId), idToBytes(workspaceId)],
  );
  return affectedRows === 1;
}

/** Whether it was still there: the rows of one that is not are those of a batch, or gone. */
export async function updateSmsImportLeft(workspaceId: string, batchId: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'UPDATE sms_imports SET is_left = 1 WHERE batch_id = ? AND workspace_id = ?',
    [idToBytes(batchId), idToBytes(workspaceId)],
  );
  return affectedRows === 1;
}

/** The same question, for the last time: from then on its rows are of a batch. */
export async function deleteSmsImport(workspaceId: string, batchId: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'DELETE FROM sms_imports WHERE batch_id = ? AND workspace_id = ? AND is_left = 0',
    [idToBytes(batchId), idToBytes(workspaceId)],
  );
  return affectedRows === 1;
}
