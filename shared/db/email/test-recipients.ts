import { idToBytes, newUuid } from '../../formats/ids.ts';
import { binaryText, id, text, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { type Changed, execute, query } from '../client.ts';

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

/** Throws the database's duplicate-key error where the address is there already. */
export async function insertTestRecipient(workspaceId: string, record: TestRecipientRecord): Promise<void> {
  await query('INSERT INTO email_test_recipients SET ?', [
    { ...testRecipients.toRow(record), workspace_id: idToBytes(workspaceId) },
  ]);
}

/** Oldest first. */
export async function listTestRecipients(workspaceId: string): Promise<TestRecipientRecord[]> {
  return testRecipients.toRecords(
    await query('SELECT * FROM email_test_recipients WHERE workspace_id = ? ORDER BY id', [
      idToBytes(workspaceId),
    ]),
  );
}

export async function findTestRecipient(
  workspaceId: string,
  id: string,
): Promise<TestRecipientRecord | null> {
  return testRecipients.toFirst(
    await execute('SELECT * FROM email_test_recipients WHERE id = ? AND workspace_id = ?', [
      idToBytes(id),
      idToBytes(workspaceId),
    ]),
  );
}

export async function findTestRecipientByEmail(
  workspaceId: string,
  emailKey: string,
): Promise<TestRecipientRecord | null> {
  return testRecipients.toFirst(
    await execute('SELECT * FROM email_test_recipients WHERE workspace_id = ? AND email_key = ?', [
      idToBytes(workspaceId),
      Buffer.from(emailKey),
    ]),
  );
}

export async function findTestRecipientVerified(workspaceId: string, emailKey: string): Promise<boolean> {
  return (await findTestRecipientByEmail(workspaceId, emailKey))?.verifiedAt != null;
}

export async function findTestRecipientCount(workspaceId: string): Promise<number> {
  const [row] = await execute<{ count: number }[]>(
    'SELECT COUNT(*) AS count FROM email_test_recipients WHERE workspace_id = ?',
    [idToBytes(workspaceId)],
  );
  return row!.count;
}

export async function deleteTestRecipient(workspaceId: string, id: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'DELETE FROM email_test_recipients WHERE id = ? AND workspace_id = ?',
    [idToBytes(id), idToBytes(workspaceId)],
  );
  return affectedRows === 1;
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
