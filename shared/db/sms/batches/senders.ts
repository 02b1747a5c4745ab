import { idToBytes } from '../../../formats/ids.ts';
import { query } from '../../client.ts';

// Rows become messages up to next_position. A batch that copies lists may have none yet.
const unfinished = `b.workspace_id = ? AND b.state IN ('scheduled', 'processing', 'paused')
  AND (b.expanding = 1 OR b.next_position < b.row_count)`;

/**
 * The senders that batches name for messages that are still to be made, as they were written; null: the default of the workspace.
 */
export async function listSendersOfBatches(workspaceId: string): Promise<(string | null)[]> {
  const own = idToBytes(workspaceId);
  const rows = await query<{ sender: Buffer | null }[]>(
    `SELECT b.sender FROM sms_batches b FORCE INDEX (sms_batches_by_state) WHERE ${unfinished}
     UNION SELECT r.sender FROM sms_batches b FORCE INDEX (sms_batches_by_state)
       JOIN sms_batch_rows r ON r.batch_id = b.id AND r.position >= b.next_position
       WHERE ${unfinished} AND r.sender IS NOT NULL`,
    [own, own],
  );
  return rows.map(({ sender }) => sender?.toString() ?? null);
}
