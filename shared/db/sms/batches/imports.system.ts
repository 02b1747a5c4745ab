import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import { type Changed, execute, query } from '../../client.ts';

export type LeftImport = { workspaceId: string; batchId: string };

/** Marks those that nobody has touched since then, and lists all that are marked. */
export async function listLeftImports(untouchedSince: Date, limit: number): Promise<LeftImport[]> {
  await execute<Changed>('UPDATE sms_imports SET is_left = 1 WHERE touched_at < ? AND is_left = 0', [
    untouchedSince,
  ]);
  const rows = await query('SELECT batch_id, workspace_id FROM sms_imports WHERE is_left = 1 LIMIT ?', [
    limit,
  ]);
  return rows.map((row) => ({
    workspaceId: idFromBytes('workspace', row.workspace_id),
    batchId: idFromBytes('batch', row.batch_id),
  }));
}

/** With the counts of its rows, which must be gone. */
export async function deleteLeftImport({ batchId }: LeftImport): Promise<void> {
  await execute('DELETE FROM sms_batch_counts WHERE batch_id = ?', [idToBytes(batchId)]);
  await execute('DELETE FROM sms_imports WHERE batch_id = ?', [idToBytes(batchId)]);
}
