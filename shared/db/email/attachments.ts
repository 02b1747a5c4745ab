import { idToBytes } from '../../formats/ids.ts';
import { int, text } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, changeRows, execute } from '../client.ts';

export const attachments = table('email_attachments', {
  position: int(),
  filename: text(),
  sizeBytes: int(),
});
export type AttachmentRecord = RecordOf<typeof attachments>;

/**
 * The size of a chunk, small beside the other memory of a process. Base64 makes whole lines of 57 bytes each, so every
 * chunk can be encoded by itself.
 */
export const chunkBytes = 57 * 4_599;

/** Stores an attachment. Each of `chunks` but the last has chunkBytes; one is written before the next is asked for. */
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

/** Deletes all attachments of one email. */
export async function deleteAttachments(workspaceId: string, emailId: string): Promise<void> {
  const id = idToBytes(emailId);
  const deleted = await changeRows(
    `DELETE a FROM email_attachments a ${byId} WHERE a.email_id = ? AND a.workspace_id = ?`,
    [id, idToBytes(workspaceId)],
  );
  if (deleted > 0)
    await execute(`DELETE c FROM email_attachment_chunks c ${byId} WHERE c.email_id = ?`, [id]);
}
