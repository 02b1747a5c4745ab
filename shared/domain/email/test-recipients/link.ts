import { now } from '../../../common/clock.ts';
import { authenticationTag, isAuthenticationTag } from '../../../common/secrets.ts';
import { config } from '../../../config/config.ts';
import * as system from '../../../db/email/test-recipients.system.ts';
import type { TestRecipientRecord } from '../../../db/email/test-recipients.ts';
import { findWorkspace } from '../../../db/workspace/workspaces.ts';
import { idFromBytes, idToBytes, isId } from '../../../formats/ids.ts';

/** A confirmation link proves that its reader agrees. Its token contains recipient and expiry. */

export const linkDays = 7;
const purpose = 'test recipient';
const [idBytes, endBytes, tagBytes] = [16, 4, 16];

export function linkFor(recipientId: string): string {
  const end = Math.floor(now().getTime() / 1000) + linkDays * 86_400;
  const content = Buffer.alloc(idBytes + endBytes);
  idToBytes(recipientId).copy(content);
  content.writeUInt32BE(end, idBytes);
  const tag = authenticationTag(purpose, content.toString('hex'), tagBytes);
  return `${config.PUBLIC_URL}/confirm/${Buffer.concat([content, tag]).toString('base64url')}`;
}

export type Link =
  | { state: 'unknown' }
  | { state: 'expired' }
  | { state: 'open' | 'done'; email: string; workspaceName: string };

/** Returns the state of a link. Reading changes nothing, because scanners follow links. */
export async function readLink(token: string): Promise<Link> {
  return linkOf(await findOf(token));
}

/** Confirms the address of the link, if the link is still valid. */
export async function confirm(token: string): Promise<Link> {
  const found = await findOf(token);
  if (typeof found === 'string') return linkOf(found);
  await system.updateTestRecipientVerified(found.id, now());
  return linkOf({ ...found, verifiedAt: found.verifiedAt ?? now() });
}

async function findOf(token: string): Promise<TestRecipientRecord | 'unknown' | 'expired'> {
  const bytes = Buffer.from(token, 'base64url');
  // Each token has only one valid spelling.
  if (bytes.length !== idBytes + endBytes + tagBytes || bytes.toString('base64url') !== token)
    return 'unknown';
  const content = bytes.subarray(0, idBytes + endBytes);
  if (!isAuthenticationTag(purpose, content.toString('hex'), bytes.subarray(content.length)))
    return 'unknown';
  const id = idFromBytes('testrecipient', content.subarray(0, idBytes));
  const record = isId('testrecipient', id) ? await system.findTestRecipientOfLink(id) : null;
  if (!record) return 'unknown';
  const isOver = content.readUInt32BE(idBytes) * 1000 < now().getTime();
  return isOver && record.verifiedAt === null ? 'expired' : record;
}

async function linkOf(found: TestRecipientRecord | 'unknown' | 'expired'): Promise<Link> {
  if (typeof found === 'string') return { state: found };
  const workspace = await findWorkspace(found.workspaceId);
  if (!workspace) return { state: 'unknown' };
  return {
    state: found.verifiedAt === null ? 'open' : 'done',
    email: found.email,
    workspaceName: workspace.name,
  };
}
