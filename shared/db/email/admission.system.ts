import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { query } from '../client.ts';
import { emailTable } from './emails.system.ts';

/**
 * Counts the jobs of each workspace, in all lanes, that are due by then. Rows that a worker has claimed are due later.
 */
export async function listDueJobs(workspaceIds: string[], dueBefore: Date): Promise<Map<string, number>> {
  if (workspaceIds.length === 0) return new Map();
  const rows = await query<{ workspace_id: Buffer; jobs: number }[]>(
    `SELECT workspace_id, COUNT(*) AS jobs FROM emails FORCE INDEX (emails_admission)
     WHERE status = 'queued' AND kind IN (?) AND parked = 0
       AND workspace_id IN (?) AND due_at <= ? GROUP BY workspace_id`,
    [emailTable.lanes.order, workspaceIds.map(idToBytes), dueBefore],
  );
  return new Map(rows.map((row) => [idFromBytes('workspace', row.workspace_id), row.jobs]));
}

/** Returns when a queued email was to go out; null when it is no longer queued. */
export async function findDueSince(emailId: string): Promise<Date | null> {
  const [row] = await query<{ since: Date }[]>(
    "SELECT COALESCE(scheduled_at, created_at) AS since FROM emails WHERE id = ? AND status = 'queued'",
    [idToBytes(emailId)],
  );
  return row?.since ?? null;
}
