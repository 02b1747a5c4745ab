import { idToBytes, newUuid } from '../../formats/ids.ts';
import { binaryText, id, text, time } from '../client/columns.ts';
import { findRow, listRows, rowsOf } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { execute, query } from '../client.ts';

export const testRecipients = table('email_test_recipients', {
  id: id('testrecipient'),
  workspaceId: id('workspace'),
  /** The address with the part before the @ as it was given. */
  email: text(),
  /** The address in the form that mail servers compare. */
  emailKey: binaryText(),
  createdAt: time(),
  verifiedAt: time().nullable(),
});
export type TestRecipientRecord = RecordOf<typeof testRecipients>;

export const {
  /** Throws the database's duplicate-key error where the address is there already. */
  insert: insertTestRecipient,
  find: findTestRecipient,
  findCount: findTestRecipientCount,
  delete: deleteTestRecipient,
} = rowsOf(testRecipients);

/** Oldest first. */
export function listTestRecipients(workspaceId: string): Promise<TestRecipientRecord[]> {
  return listRows(workspaceId, testRecipients, {}, 'id');
}

export function findTestRecipientByEmail(
  workspaceId: string,
  emailKey: string,
): Promise<TestRecipientRecord | null> {
  return findRow(workspaceId, testRecipients, { emailKey });
}

export async function findTestRecipientVerified(workspaceId: string, emailKey: string): Promise<boolean> {
  return (await findTestRecipientByEmail(workspaceId, emailKey))?.verifiedAt != null;
}

/** Notes that a confirmation link went out. */
export async function insertTestLink(workspaceId: string, emailKey: string, sentAt: Date): Promise<void> {
  await execute('INSERT INTO email_test_links (id, workspace_id, email_key, sent_at) VALUES (?, ?, ?, ?)', [
    newUuid(sentAt),
    idToBytes(workspaceId),
    Buffer.from(emailKey),
    sentAt,
  ]);
}

/** Lists when the latest links of this workspace were sent since that time, to any address; newest first. */
export async function listTestLinks(workspaceId: string, since: Date, limit: number): Promise<Date[]> {
  const rows = await query<{ sent_at: Date }[]>(
    'SELECT sent_at FROM email_test_links WHERE workspace_id = ? AND sent_at > ? ORDER BY sent_at DESC LIMIT ?',
    [idToBytes(workspaceId), since, limit],
  );
  return rows.map((row) => row.sent_at);
}
