import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';

const lengthOf = (...columns: string[]) => columns.map((name) => `COALESCE(LENGTH(${name}), 0)`).join(' + ');
const rowBytes = lengthOf('r.content', 'r.data', 'r.sender', 'r.client_reference');

/** Counts a workspace's waiting messages and bytes, from its messages, bodies, attachments, batches and their rows. */
export async function countedRows(workspaceId: string): Promise<{ messages: number; bytes: number }> {
  const id = idToBytes(workspaceId);
  const [row] = await query(
    `SELECT
       (SELECT COUNT(*) FROM emails WHERE workspace_id = ? AND status = 'queued')
         + (SELECT COUNT(*) FROM sms_messages WHERE workspace_id = ? AND status IN ('queued', 'held'))
         + (SELECT COUNT(*) FROM sms_batch_rows r JOIN sms_batches b ON b.id = r.batch_id
            WHERE b.workspace_id = ? AND b.expanding = 1 AND r.position >= b.next_position)
         + (SELECT COUNT(*) FROM sms_batch_rows r JOIN sms_imports i ON i.batch_id = r.batch_id
            WHERE i.workspace_id = ?) AS messages,
       (SELECT COALESCE(SUM(COALESCE(LENGTH(html), 0) + COALESCE(LENGTH(text), 0)), 0) FROM email_bodies
         JOIN emails ON emails.id = email_id WHERE workspace_id = ? AND status = 'queued')
         + (SELECT COALESCE(SUM(size_bytes), 0) FROM email_attachments a
            JOIN emails e ON e.id = a.email_id WHERE e.workspace_id = ? AND e.status = 'queued')
         + (SELECT COALESCE(SUM(${rowBytes}), 0) FROM sms_batch_rows r
            WHERE r.workspace_id = ? AND (r.batch_id IN (SELECT batch_id FROM sms_imports)
              OR r.batch_id IN (SELECT id FROM sms_batches WHERE status = 'queued')))
         + (SELECT COALESCE(SUM(${lengthOf('content', 'data')}), 0) FROM sms_batches
            WHERE workspace_id = ? AND status = 'queued') AS bytes`,
    [id, id, id, id, id, id, id, id],
  );
  return { messages: Number(row!['messages']), bytes: Number(row!['bytes']) };
}
