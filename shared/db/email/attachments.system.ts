import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { execute, query } from '../client.ts';
import { type AttachmentRecord, listed } from './attachments.ts';

/** Lists the attachments in their order in the message. */
export async function listAttachments(emailId: string): Promise<AttachmentRecord[]> {
  return listed.toRecords(
    await execute(`SELECT ${listed.columns} FROM email_attachments WHERE email_id = ? ORDER BY position`, [
      idToBytes(emailId),
    ]),
  );
}

export async function findAttachmentChunk(
  emailId: string,
  position: number,
  number: number,
): Promise<Buffer | null> {
  const [row] = await execute<{ bytes: Buffer }[]>(
    'SELECT bytes FROM email_attachment_chunks WHERE email_id = ? AND position = ? AND number = ?',
    [idToBytes(emailId), position, number],
  );
  return row?.bytes ?? null;
}

type LeftAttachment = { workspaceId: string; emailId: string };

/** Lists emails that have attachments but no body: the process that was to delete the attachments died on the way. */
export async function listLeftAttachments(limit: number): Promise<LeftAttachment[]> {
  const rows = await query<{ workspace_id: Buffer; email_id: Buffer }[]>(
    `SELECT DISTINCT a.workspace_id, a.email_id FROM email_attachments a
     LEFT JOIN email_bodies b ON b.email_id = a.email_id WHERE b.email_id IS NULL LIMIT ?`,
    [limit],
  );
  return rows.map((row) => ({
    workspaceId: idFromBytes('workspace', row.workspace_id),
    emailId: idFromBytes('email', row.email_id),
  }));
}
