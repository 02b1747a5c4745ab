import { idToBytes } from '../../../formats/ids.ts';
import type { RowOf } from '../../client/table.ts';
import { execute, query } from '../../client.ts';
import { smsBatches } from './batches.ts';

const named = smsBatches.pick('id', 'sender', 'senders');

/** The senders of a batch that still has messages to make. */
type SendersOfBatch = {
  batchId: string;
  /** As the caller wrote it; null: the default of the workspace. */
  sender: string | null;
  /** Keys of the senders that its rows name; null: unknown, so the rows must be read. */
  senders: string[] | null;
};

/**
 * Lists the senders of batches with messages still to make: rows at next_position and later are no messages yet. A
 * batch that still copies lists may have no rows yet.
 */
export async function listSendersOfBatches(workspaceId: string): Promise<SendersOfBatch[]> {
  const rows = await query<RowOf<typeof named>[]>(
    `SELECT ${named.columns} FROM sms_batches FORCE INDEX (sms_batches_by_state)
     WHERE workspace_id = ? AND state IN ('scheduled', 'processing', 'paused')
       AND (expanding = 1 OR next_position < row_count)`,
    [idToBytes(workspaceId)],
  );
  return named.toRecords(rows).map(({ id: batchId, ...senders }) => ({ batchId, ...senders }));
}

/** Lists the senders in rows that are not yet messages. It reads all of these rows, which may take long. */
export async function listSendersOfRows(workspaceId: string, batchId: string): Promise<string[]> {
  const rows = await execute<{ sender: Buffer }[]>(
    `SELECT DISTINCT r.sender FROM sms_batches b
       JOIN sms_batch_rows r ON r.batch_id = b.id AND r.position >= b.next_position
     WHERE b.id = ? AND b.workspace_id = ? AND r.sender IS NOT NULL`,
    [idToBytes(batchId), idToBytes(workspaceId)],
  );
  return rows.map(({ sender }) => sender.toString());
}
