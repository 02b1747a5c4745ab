import { idToBytes } from '../../formats/ids.ts';
import { byId, changeRow, execute } from '../client.ts';

/** A text that answers a STOP. */
type StopReply = { number: string; smsId: string };

/** Stores a reply; false where the number has had one since `after`. */
export async function insertStopReply(
  workspaceId: string,
  { number, smsId }: StopReply,
  { at, after }: { at: Date; after: Date },
): Promise<boolean> {
  const key = [idToBytes(workspaceId), Buffer.from(number)];
  await execute(
    `DELETE r FROM sms_stop_replies r ${byId} WHERE workspace_id = ? AND number = ? AND replied_at <= ?`,
    [...key, after],
  );
  return changeRow(
    'INSERT IGNORE INTO sms_stop_replies (workspace_id, number, sms_id, replied_at) VALUES (?, ?, ?, ?)',
    [...key, idToBytes(smsId), at],
  );
}

/** Deletes the reply, because the text will not be sent after all. */
export async function deleteStopReply(workspaceId: string, number: string): Promise<void> {
  await execute(`DELETE r FROM sms_stop_replies r ${byId} WHERE workspace_id = ? AND number = ?`, [
    idToBytes(workspaceId),
    Buffer.from(number),
  ]);
}
