import { idToBytes } from '../../formats/ids.ts';
import { bytes, id, int, text } from '../client/columns.ts';
import { insertRow } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, changeRows, execute } from '../client.ts';

const attachments = table('email_attachments', {
  emailId: id('email'),
  position: int(),
  filename: text(),
  sizeBytes: int(),
});
export const listed = attachments.omit('emailId');
export type AttachmentRecord = RecordOf<typeof listed>;
const attachmentChunks = table('email_attachment_chunks', {
  emailId: id('email'),
  position: int(),
  number: int(),
  bytes: bytes(),
});

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
  await insertRow(workspaceId, attachments, { emailId, position, filename, sizeBytes });
  let number = 0;
  for await (const bytes of chunks) {
    const values = attachmentChunks.toValues({ emailId, position, number, bytes });
    await execute(`INSERT INTO ${attachmentChunks.into} VALUES ${attachmentChunks.marks}`, values);
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
