import { idToBytes } from '../../formats/ids.ts';
import { int, text } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, type Changed, execute } from '../client.ts';

export const attachments = table('email_attachments', {
  position: int(),
  filename: text(),
  sizeBytes: int(),
});
export type AttachmentRecord = RecordOf<typeof attachments>;

/**
 * So that one of them is little beside all else that a process holds. Base64 makes whole lines of 57 bytes each, so
 * every chunk is encoded by itself.
 */
export const chunkBytes = 57 * 4_599;

/** `chunks`: each but the last has chunkBytes. One is written before the next is asked for. */
export async function insertAttachment(
  workspaceId: string,
  emailId: string,
  { position, filename, sizeBytes }: AttachmentRecord,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const id = idToBytes(emailId);
  await execute(
    'INSERT INTO email_attachments (email_id, position, workspace_id, filename, size_bytes) VALUES (?, ?, ?, ?, ?)',
    [id, position, idToBytes(workspaceId), filename, sizeBytes],
  );
  let number = 0;
  for await (const bytes of chunks) {
    await execute(
      'INSERT INTO email_attachment_chunks (email_id, position, number, bytes) VALUES (?, ?, ?, ?)',
      [id, position, number, bytes],
    );
    number += 1;
  }
}

/** All of one email's. */
export async function deleteAttachments(workspaceId: string, emailId: string): Promise<void> {
  const id = idToBytes(emailId);
  const { affectedRows } = await execute<Changed>(
    `DELETE a FROM email_attachments a ${byId} WHERE a.email_id = ? AND a.workspace_id = ?`,
    [id, idToBytes(workspaceId)],
  );
  if (affectedRows > 0)
    await execute(`DELETE c FROM email_attachment_chunks c ${byId} WHERE c.email_id = ?`, [id]);
}
