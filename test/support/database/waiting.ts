import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';

/** The messages and bytes that wait in a workspace, counted from its messages, bodies and attachments. */
export async function countedRows(workspaceId: string): Promise<{ messages: number; bytes: number }> {
  const id = idToBytes(workspaceId);
  const [row] = await query(
    `SELECT
       (SELECT COUNT(*) FROM emails WHERE workspace_id = ? AND status = 'queued')
         + (SELECT COUNT(*) FROM sms_messages WHERE workspace_id = ? AND status IN ('queued', 'held')) AS messages,
       (SELECT COALESCE(SUM(COALESCE(LENGTH(html), 0) + COALESCE(LENGTH(text), 0)), 0) FROM email_bodies
         JOIN emails ON emails.id = email_id WHERE workspace_id = ? AND status = 'queued')
         + (SELECT COALESCE(SUM(size_bytes), 0) FROM email_attachments a
            JOIN emails e ON e.id = a.email_id WHERE e.workspace_id = ? AND e.status = 'queued') AS bytes`,
    [id, id, id, id],
  );
  return { messages: Number(row!['messages']), bytes: Number(row!['bytes']) };
}
