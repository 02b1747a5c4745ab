import { idToBytes } from '../../../formats/ids.ts';
import type { RowOf } from '../../client/table.ts';
import { execute, query } from '../../client.ts';
import { smsBatches } from './batches.ts';

const named = smsBatches.pick('id', 'sender', 'senders');

/** The senders that a batch names for messages of which some are still to be made. */
type SendersOfBatch = {
  batchId: string;
  /** As it was written; null: the default of the workspace. */
  sender: string | null;
  /** Keys of those that its rows name; null: the rows tell. */
  senders: string[] | null;
};

/** Rows become messages up to next_position. A batch that copies lists may have none yet. */
export async function listSendersOfBatches(workspaceId: string): Promise<SendersOfBatch[]> {
  const rows = await query<RowOf<typeof named>[]>(
    `SELECT ${named.columns} FROM sms_batches FORCE INDEX (sms_batches_by_state)
     WHERE workspace_id = ? AND state IN ('scheduled', 'processing', 'paused')
       AND (expanding = 1 OR next_position < row_count)`,
    [idToBytes(workspaceId)],
  );
  return named.toRecords(rows).map(({ id: batchId, ...senders }) => ({ batchId, ...senders }));
}

/** The senders that rows of the batch name which are no message yet. It reads all of them, which may take long. */
export async function listSendersOfRows(workspaceId: string, batchId: string): Promise<string[]> {
  const rows = await execute<{ sender: Buffer }[]>(
    `SELECT DISTINCT r.sender FROM sms_batches b
       JOIN sms_batch_rows r ON r.batch_id = b.id AND r.position >= b.next_position
     WHERE b.id = ? AND b.workspace_id = ? AND r.sender IS NOT NULL`,
    [idToBytes(batchId), idToBytes(workspaceId)],
  );
  return rows.map(({ sender }) => sender.toString());
}
