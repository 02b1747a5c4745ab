import { idToBytes } from '../../../formats/ids.ts';
import type { RecordOf } from '../../client/table.ts';
import { execute, query } from '../../client.ts';
import { changeWaiting } from '../../work/waiting-counts.ts';
import { smsImports } from './imports.ts';

const leftImports = smsImports.omit('touchedAt');
export type LeftImport = RecordOf<typeof leftImports>;

/**
 * Marks imports that no process has touched since then, and lists marked ones.
 *
 * Each is marked by its primary key. A statement that marks by the time locks the entries of that index first and the
 * rows after; one that deletes a row locks the other way round, and the two can deadlock.
 */
export async function listLeftImports(untouchedSince: Date, limit: number): Promise<LeftImport[]> {
  const untouched = leftImports.toRecords(
    await query(
      'SELECT batch_id, workspace_id FROM sms_imports WHERE touched_at < ? AND is_left = 0 LIMIT ?',
      [untouchedSince, limit],
    ),
  );
  for (const { batchId } of untouched)
    await execute('UPDATE sms_imports SET is_left = 1 WHERE batch_id = ? AND touched_at < ?', [
      idToBytes(batchId),
      untouchedSince,
    ]);
  return leftImports.toRecords(
    await query('SELECT batch_id, workspace_id FROM sms_imports WHERE is_left = 1 LIMIT ?', [limit]),
  );
}

/**
 * Deletes an import and its counts; its rows must be gone already. Call it in a transaction: the lock makes a second
 * caller find nothing.
 */
export async function deleteLeftImport({ workspaceId, batchId }: LeftImport): Promise<void> {
  const [left] = await execute<{ stored_bytes: number | string }[]>(
    'SELECT stored_bytes FROM sms_imports WHERE batch_id = ? FOR UPDATE',
    [idToBytes(batchId)],
  );
  if (!left) return;
  await execute('DELETE FROM sms_batch_counts WHERE batch_id = ?', [idToBytes(batchId)]);
  await execute('DELETE FROM sms_imports WHERE batch_id = ?', [idToBytes(batchId)]);
  await changeWaiting(workspaceId, { bytes: -Number(left.stored_bytes) });
}
