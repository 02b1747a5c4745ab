import type { Refuse, Usable } from '../../common/faults.ts';
import * as db from '../../db/email/attachments.ts';
import { decodeBase64, decodeBase64Pieces, NotBase64 } from '../../formats/base64.ts';
import { cleanFilename } from '../../formats/email/mime-message.ts';
import type { NewEmail } from '../../schemas/email/email.ts';
import type { LargeText } from '../../schemas/large-text.ts';

const mostBytes = 30_000_000;

/** An attachment that has been checked. `open` decodes it, from its start each time. */
export type NewAttachment = db.AttachmentRecord & { open: () => AsyncIterable<Buffer> };

// RFC 2045 §5.1; parameters that follow are not checked.
const mediaType = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[ \t]*(?:;.*)?$/s;

/** Checks the attachments. Each is decoded once here, so that only complete ones are stored later. */
export async function checkAttachments(request: Usable<NewEmail>, refuse: Refuse): Promise<NewAttachment[]> {
  const checked: NewAttachment[] = [];
  for (const [position, attachment] of (request.attachments ?? []).entries()) {
    const { filename, contentType, content } = attachment ?? {};
    const field = `attachments[${position}]`;
    const name = filename === undefined ? null : cleanFilename(filename);
    if (name === '') refuse(`${field}.filename`, 'must have visible characters');
    if (contentType !== undefined && !mediaType.test(contentType))
      refuse(`${field}.contentType`, 'must be a MIME type');
    if (content === undefined || name === null) continue;
    const decoded = await decode(content);
    if (decoded) checked.push({ position, filename: name, ...decoded });
    else refuse(`${field}.content`, 'must be base64 (RFC 4648 §4), with padding and without line breaks');
  }
  if (checked.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > mostBytes)
    refuse('attachments', `must have at most ${mostBytes} bytes in total once decoded`);
  return checked;
}

async function decode(
  content: string | LargeText,
): Promise<Pick<NewAttachment, 'sizeBytes' | 'open'> | null> {
  if (typeof content === 'string') {
    const bytes = decodeBase64(content);
    return bytes && { sizeBytes: bytes.length, open: () => one(bytes) };
  }
  const open = () => decodeBase64Pieces(content.read());
  let sizeBytes = 0;
  try {
    for await (const bytes of open()) sizeBytes += bytes.length;
  } catch (error) {
    if (error instanceof NotBase64) return null;
    throw error;
  }
  return { sizeBytes, open };
}

/** Stores attachments; call it in the transaction that stores their email. */
export async function storeAttachments(
  workspaceId: string,
  emailId: string,
  attachments: readonly NewAttachment[],
): Promise<void> {
  for (const attachment of attachments)
    await db.insertAttachment(workspaceId, emailId, attachment, inChunks(attachment.open()));
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Yields the same bytes in chunks of `chunkBytes`; the last may be shorter. Each chunk overwrites the one before. */
async function* inChunks(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(db.chunkBytes);
  let length = 0;
  for await (const piece of pieces)
    for (let at = 0; at < piece.length; ) {
      const taken = piece.copy(chunk, length, at);
      at += taken;
      length += taken;
      if (length < chunk.length) continue;
      yield chunk;
      length = 0;
    }
  if (length > 0) yield chunk.subarray(0, length);
}
