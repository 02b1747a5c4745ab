import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { findRowOfAny } from '../client/rows.system.ts';
import { byId, execute, query } from '../client.ts';
import { type TestRecipientRecord, testRecipients } from './test-recipients.ts';

/** Returns the recipient of a confirmation link, of any workspace: the holder of the link names none. */
export function findTestRecipientOfLink(id: string): Promise<TestRecipientRecord | null> {
  return findRowOfAny(testRecipients, id);
}

/** Marks the recipient as verified; an earlier time of verification stays. */
export async function updateTestRecipientVerified(id: string, at: Date): Promise<void> {
  await execute(
    `UPDATE email_test_recipients ${byId} SET verified_at = ? WHERE id = ? AND verified_at IS NULL`,
    [at, idToBytes(id)],
  );
}

type TestLink = { workspaceId: string; sentAt: Date };

/** Lists the links sent to an address since that time, for any workspace; newest first. */
export async function listTestLinksTo(emailKey: string, since: Date, limit: number): Promise<TestLink[]> {
  const rows = await query<{ workspace_id: Buffer; sent_at: Date }[]>(
    'SELECT workspace_id, sent_at FROM email_test_links WHERE email_key = ? AND sent_at > ? ORDER BY sent_at DESC LIMIT ?',
    [Buffer.from(emailKey), since, limit],
  );
  return rows.map((row) => ({
    workspaceId: idFromBytes('workspace', row.workspace_id),
    sentAt: row.sent_at,
  }));
}
