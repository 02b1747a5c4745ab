import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, execute, query } from '../client.ts';
import { type TestRecipientRecord, testRecipients } from './test-recipients.ts';

/** Whom a confirmation link is about: its holder names no workspace. */
export async function findTestRecipientOfLink(id: string): Promise<TestRecipientRecord | null> {
  return testRecipients.toFirst(
    await execute(`SELECT * FROM email_test_recipients ${byId} WHERE id = ?`, [idToBytes(id)]),
  );
}

/** The first time counts. */
export async function updateTestRecipientVerified(id: string, at: Date): Promise<void> {
  await execute(
    `UPDATE email_test_recipients ${byId} SET verified_at = ? WHERE id = ? AND verified_at IS NULL`,
    [at, idToBytes(id)],
  );
}

type TestLink = { workspaceId: string; sentAt: Date };

/** The links that went to an address since that time, whichever workspace asked for them; newest first. */
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

/** Found by a plain read, so that no request in hand is waited for. */
export async function deleteTestLinksBefore(before: Date, limit: number): Promise<number> {
  const rows = await query<{ id: Buffer }[]>('SELECT id FROM email_test_links WHERE sent_at < ? LIMIT ?', [
    before,
    limit,
  ]);
  if (rows.length === 0) return 0;
  const { affectedRows } = await query<Changed>(
    `DELETE l FROM email_test_links l ${byId} WHERE l.id IN (?)`,
    [rows.map(({ id }) => id)],
  );
  return affectedRows;
}
