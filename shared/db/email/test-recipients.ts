import { idFromBytes, idToBytes, newUuid } from '../../formats/ids.ts';
import { type Changed, execute, query, type Row } from '../client.ts';

export type TestRecipientRecord = {
  id: string;
  workspaceId: string;
  /** The part before the @ as it was given. */
  email: string;
  /** As mail servers compare it. */
  emailKey: string;
  createdAt: Date;
  verifiedAt: Date | null;
};

/** Throws the database's duplicate-key error where the address is there already. */
export async function insertTestRecipient(workspaceId: string, record: TestRecipientRecord): Promise<void> {
  await query('INSERT INTO email_test_recipients SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      email: record.email,
      email_key: Buffer.from(record.emailKey),
      created_at: record.createdAt,
      verified_at: record.verifiedAt,
    },
  ]);
}

/** Oldest first. */
export async function listTestRecipients(workspaceId: string): Promise<TestRecipientRecord[]> {
  const rows = await query('SELECT * FROM email_test_recipients WHERE workspace_id = ? ORDER BY id', [
    idToBytes(workspaceId),
  ]);
  return rows.map(toRecord);
}

export async function findTestRecipient(
  workspaceId: string,
  id: string,
): Promise<TestRecipientRecord | null> {
  const [row] = await execute('SELECT * FROM email_test_recipients WHERE id = ? AND workspace_id = ?', [
    idToBytes(id),
    idToBytes(workspaceId),
  ]);
  return row ? toRecord(row) : null;
}

export async function findTestRecipientByEmail(
  workspaceId: string,
  emailKey: string,
): Promise<TestRecipientRecord | null> {
  const [row] = await execute(
    'SELECT * FROM email_test_recipients WHERE workspace_id = ? AND email_key = ?',
    [idToBytes(workspaceId), Buffer.from(emailKey)],
  );
  return row ? toRecord(row) : null;
}

export async function findTestRecipientVerified(workspaceId: string, emailKey: string): Promise<boolean> {
  return (await findTestRecipientByEmail(workspaceId, emailKey))?.verifiedAt != null;
}

export async function findTestRecipientCount(workspaceId: string): Promise<number> {
  const [row] = await execute('SELECT COUNT(*) AS count FROM email_test_recipients WHERE workspace_id = ?', [
    idToBytes(workspaceId),
  ]);
  return Number(row!.count);
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

/** When this workspace's latest links went out since that time, to any address; newest first. */
export async function listTestLinks(workspaceId: string, since: Date, limit: number): Promise<Date[]> {
  const rows = await query(
    'SELECT sent_at FROM email_test_links WHERE workspace_id = ? AND sent_at > ? ORDER BY sent_at DESC LIMIT ?',
    [idToBytes(workspaceId), since, limit],
  );
  return rows.map((row) => row.sent_at);
}

export function toRecord(row: Row): TestRecipientRecord {
  return {
    id: idFromBytes('testrecipient', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    email: row.email,
    emailKey: row.email_key.toString(),
    createdAt: row.created_at,
    verifiedAt: row.verified_at,
  };
}
