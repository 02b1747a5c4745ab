import { idToBytes } from '../formats/ids.ts';
import { byId, type Changed, execute, isDuplicateKey, isLockWait, type Row } from './client.ts';

/** `answer` is sealed; null while the request goes on after its first commit. */
export type IdempotencyRecord = { fingerprint: Buffer; answer: Buffer | null };

const ofKey = 'workspace_id = ? AND lineage_id = ? AND idempotency_key = ?';
const findSql = `SELECT fingerprint, answer FROM idempotency_records WHERE ${ofKey} AND expires_at > ?`;

/**
 * The record that is still kept at that time; 'locked' while a request that has not committed yet holds the key. It never
 * waits: asking for the lock shows what is not committed, and costs no more than a plain read.
 */
export async function findRecord(
  workspaceId: string,
  lineageId: string,
  key: string,
  at: Date,
): Promise<IdempotencyRecord | 'locked' | null> {
  const values = [...keyValues(workspaceId, lineageId, key), at];
  try {
    const [row] = await execute(`${findSql} FOR UPDATE NOWAIT`, values);
    return row ? toRecord(row) : null;
  } catch (error) {
    if (!isLockWait(error)) throw error;
  }
  // It may be another reader of the same answer that has the lock, and only for this moment.
  const [row] = await execute(findSql, values);
  return row ? toRecord(row) : 'locked';
}

/**
 * Takes the key for the current transaction. Another transaction that has it in hand is waited for, as long as the
 * session waits for locks: 'locked' when it is not over by then, 'taken' when it has committed.
 */
export async function insertRecord(
  workspaceId: string,
  lineageId: string,
  key: string,
  record: { fingerprint: Buffer; expiresAt: Date },
): Promise<'inserted' | 'locked' | 'taken'> {
  try {
    await execute(
      `INSERT INTO idempotency_records (workspace_id, lineage_id, idempotency_key, fingerprint, expires_at)
       VALUES (?, ?, ?, ?, ?)`,
      [...keyValues(workspaceId, lineageId, key), record.fingerprint, record.expiresAt],
    );
    return 'inserted';
  } catch (error) {
    if (isDuplicateKey(error)) return 'taken';
    if (isLockWait(error)) return 'locked';
    throw error;
  }
}

export async function updateAnswer(
  workspaceId: string,
  lineageId: string,
  key: string,
  answer: Buffer,
): Promise<void> {
  await execute(`UPDATE idempotency_records ${byId} SET answer = ? WHERE ${ofKey}`, [
    answer,
    ...keyValues(workspaceId, lineageId, key),
  ]);
}

/** Makes room for a new record where one is left that nobody has purged yet. */
export async function deleteExpiredRecord(
  workspaceId: string,
  lineageId: string,
  key: string,
  at: Date,
): Promise<boolean> {
  // In this form, with the table named twice, DELETE takes an index hint.
  const { affectedRows } = await execute<Changed>(
    `DELETE r FROM idempotency_records r ${byId} WHERE ${ofKey} AND expires_at <= ?`,
    [...keyValues(workspaceId, lineageId, key), at],
  );
  return affectedRows === 1;
}

export async function deleteRecord(workspaceId: string, lineageId: string, key: string): Promise<void> {
  await execute(`DELETE r FROM idempotency_records r ${byId} WHERE ${ofKey}`, [
    ...keyValues(workspaceId, lineageId, key),
  ]);
}

function keyValues(workspaceId: string, lineageId: string, key: string): Buffer[] {
  return [idToBytes(workspaceId), idToBytes(lineageId), Buffer.from(key, 'latin1')];
}

function toRecord(row: Row): IdempotencyRecord {
  return { fingerprint: row.fingerprint, answer: row.answer };
}
