import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { changeRow, execute, query } from '../client.ts';
import type { Waiting } from './waiting-counts.ts';

/** Lists workspaces that were not recounted since then; workspaces never recounted come first. */
export async function listWorkspacesToRecount(before: Date, limit: number): Promise<string[]> {
  const rows = await query<{ id: Buffer }[]>(
    `SELECT w.id FROM workspaces w LEFT JOIN waiting_counts c ON c.workspace_id = w.id AND c.shard = 0
     WHERE c.recounted_at IS NULL OR c.recounted_at < ? ORDER BY c.recounted_at LIMIT ?`,
    [before, limit],
  );
  return rows.map((row) => idFromBytes('workspace', row.id));
}

/** The error of the counts, and the number of the recount, by which a concurrent one is noticed. */
type Recount = { off: Waiting; recounts: number };

/**
 * Counts the rows themselves and compares; null where another process has done so since that time. One statement,
 * because it sees the rows and the counts of one moment: work accepted meanwhile changes both or neither. Messages come
 * from the indexes alone, a few million entries a second; of batches in progress there are few.
 */
export async function findRecount(workspaceId: string, unlessSince: Date): Promise<Recount | null> {
  const id = idToBytes(workspaceId);
  await execute(
    'INSERT IGNORE INTO waiting_counts (workspace_id, shard, messages, bytes) VALUES (?, 0, 0, 0)',
    [id],
  );
  const [known] = await execute(
    'SELECT 1 FROM waiting_counts WHERE workspace_id = ? AND shard = 0 AND recounted_at >= ?',
    [id, unlessSince],
  );
  if (known) return null;
  const [row] = await execute<{ recounts: number; messages: string; bytes: string }[]>(
    `SELECT counted.recounts,
       emails.messages + texts.messages + rows_left.messages + imported.messages - counted.messages AS messages,
       emails.bytes + batches.bytes + imports.bytes - counted.bytes AS bytes
     FROM (SELECT SUM(messages) AS messages, SUM(bytes) AS bytes, MAX(recounts) AS recounts
         FROM waiting_counts WHERE workspace_id = ?) AS counted
       JOIN (SELECT COUNT(*) AS messages, COALESCE(SUM(stored_bytes), 0) AS bytes
         FROM emails FORCE INDEX (emails_by_status) WHERE workspace_id = ? AND status = 'queued') AS emails
       JOIN (SELECT COUNT(*) AS messages FROM sms_messages FORCE INDEX (sms_by_status)
         WHERE status IN ('queued', 'held') AND workspace_id = ?) AS texts
       JOIN (SELECT COALESCE(SUM(c.waiting), 0) AS messages FROM sms_batches b FORCE INDEX (sms_batches_listed)
         JOIN sms_batch_counts c ON c.batch_id = b.id WHERE b.workspace_id = ?) AS rows_left
       JOIN (SELECT COALESCE(SUM(stored_bytes), 0) AS bytes FROM sms_batches FORCE INDEX (sms_batches_admission)
         WHERE status = 'queued' AND lane IN ('expand', 'follow') AND parked IN (0, 1) AND workspace_id = ?) AS batches
       JOIN (SELECT COALESCE(SUM(c.waiting), 0) AS messages FROM sms_imports i
         JOIN sms_batch_counts c ON c.batch_id = i.batch_id WHERE i.workspace_id = ?) AS imported
       JOIN (SELECT COALESCE(SUM(stored_bytes), 0) AS bytes FROM sms_imports WHERE workspace_id = ?) AS imports`,
    [id, id, id, id, id, id, id],
  );
  const off = { messages: Number(row!.messages), bytes: Number(row!.bytes) };
  return { off, recounts: row!.recounts };
}

/** Corrects the counts; false where another process has done so meanwhile. */
export function updateRecounted(workspaceId: string, { off, recounts }: Recount, at: Date): Promise<boolean> {
  return changeRow(
    `UPDATE waiting_counts SET messages = messages + ?, bytes = bytes + ?, recounts = recounts + 1, recounted_at = ?
     WHERE workspace_id = ? AND shard = 0 AND recounts = ?`,
    [off.messages, off.bytes, at, idToBytes(workspaceId), recounts],
  );
}

/** Notes the time of a recount that failed: the workspace is recounted again when this is long ago. */
export async function updateRecountFailed(workspaceId: string, at: Date): Promise<void> {
  await execute(
    `INSERT INTO waiting_counts (workspace_id, shard, messages, bytes, recounted_at) VALUES (?, 0, 0, 0, ?)
     ON DUPLICATE KEY UPDATE recounted_at = VALUES(recounted_at)`,
    [idToBytes(workspaceId), at],
  );
}

/** Counts the workspaces that have at least this many messages, or bytes, waiting. */
export async function findFullWorkspaceCount({ messages, bytes }: Waiting): Promise<number> {
  const [row] = await execute<{ workspaces: number }[]>(
    `SELECT COUNT(*) AS workspaces FROM (SELECT workspace_id FROM waiting_counts GROUP BY workspace_id
       HAVING SUM(messages) >= ? OR SUM(bytes) >= ?) AS full`,
    [messages, bytes],
  );
  return row!.workspaces;
}
