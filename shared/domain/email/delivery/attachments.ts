import { logger } from '../../../common/logger.ts';
import { transaction } from '../../../db/client.ts';
import * as system from '../../../db/email/attachments.system.ts';
import { chunkBytes, deleteAttachments } from '../../../db/email/attachments.ts';
import type { EmailRecord } from '../../../db/email/emails.ts';
import type { Attachment } from '../../../formats/email/mime-message.ts';

export class MissingAttachment extends Error {}

/** An email's attachments, each of which is read chunk by chunk whenever it is opened. */
export async function attachmentsOf(emailId: string, count: number): Promise<Attachment[]> {
  const records = await system.listAttachments(emailId);
  if (records.length !== count)
    throw new MissingAttachment(`There are ${records.length} of ${count} attachments`);
  return records.map(({ position, filename, sizeBytes }) => ({
    filename,
    sizeBytes,
    open: async function* () {
      for (let start = 0, number = 0; start < sizeBytes; start += chunkBytes, number += 1) {
        const bytes = await system.findAttachmentChunk(emailId, position, number);
        if (bytes?.length !== Math.min(chunkBytes, sizeBytes - start))
          throw new MissingAttachment(`Chunk ${number} of attachment ${position} is not there`);
        yield bytes;
      }
    },
  }));
}

/** Deletes the attachments of an email that has ended. A failure does no harm: the rest is found and deleted later. */
export async function forgetAttachments({ workspaceId, id }: EmailRecord): Promise<void> {
  try {
    await transaction(() => deleteAttachments(workspaceId, id));
  } catch (error) {
    logger.warn(
      { err: error, emailId: id },
      'the attachments of an email could not be deleted; they are deleted later',
    );
  }
}

/** Deletes attachments that outlived their email's body; returns the number of these emails. */
export async function forgetLeftAttachments(limit: number): Promise<number> {
  const left = await system.listLeftAttachments(limit);
  for (const { workspaceId, emailId } of left)
    await transaction(() => deleteAttachments(workspaceId, emailId));
  return left.length;
}
