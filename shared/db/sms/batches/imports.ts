import { idToBytes } from '../../../formats/ids.ts';
import { id, time } from '../../client/columns.ts';
import { insertRow } from '../../client/rows.ts';
import { table } from '../../client/table.ts';
import { changeRow, execute } from '../../client.ts';

export const smsImports = table('sms_imports', {
  batchId: id('batch'),
  workspaceId: id('workspace'),
  /** When a process last added rows. */
  touchedAt: time(),
});

export function insertSmsImport(workspaceId: string, batchId: string, at: Date): Promise<void> {
  return insertRow(workspaceId, smsImports, { batchId, workspaceId, touchedAt: at });
}

/** Counts the imports of the workspace that a process has touched since then. */
export async function findSmsImportCount(workspaceId: string, touchedSince: Date): Promise<number> {
  const [row] = await execute<{ imports: number }[]>(
    'SELECT COUNT(*) AS imports FROM sms_imports WHERE workspace_id = ? AND touched_at >= ?',
    [idToBytes(workspaceId), touchedSince],
  );
  return row!.imports;
}

/** Notes that rows of `addedBytes` bytes were added. False: the import is marked as left behind, and no longer ours. */
export function updateSmsImport(
  workspaceId: string,
  batchId: string,
  changes: { touchedAt: Date; addedBytes: number },
): Promise<boolean> {
  return changeRow(
    `UPDATE sms_imports SET touched_at = ?, stored_bytes = stored_bytes + ?
     WHERE batch_id = ? AND workspace_id = ? AND is_left = 0`,
    [changes.touchedAt, changes.addedBytes, idToBytes(batchId), idToBytes(workspaceId)],
  );
}

/** Marks the import as left behind. False: it is gone, and its rows belong to a batch or are deleted. */
export function updateSmsImportLeft(workspaceId: string, batchId: string): Promise<boolean> {
  return changeRow('UPDATE sms_imports SET is_left = 1 WHERE batch_id = ? AND workspace_id = ?', [
    idToBytes(batchId),
    idToBytes(workspaceId),
  ]);
}

/**
 * Deletes an import that became a batch, which owns the rows from then on. False: it is marked as left behind, or gone.
 */
export function deleteSmsImport(workspaceId: string, batchId: string): Promise<boolean> {
  return changeRow('DELETE FROM sms_imports WHERE batch_id = ? AND workspace_id = ? AND is_left = 0', [
    idToBytes(batchId),
    idToBytes(workspaceId),
  ]);
}
