import { batcher } from '../../common/batcher.ts';
import { idToBytes } from '../../formats/ids.ts';
import {
  byId,
  changeRow,
  execute,
  insertNew,
  isDuplicateKey,
  isLockWait,
  outsideTransaction,
  query,
} from '../client.ts';

/** The Idempotency-Keys of a workspace, each with the answer of its first request. */

type RequestRow = {
  workspace_id: Buffer;
  lineage_id: Buffer;
  idempotency_key: Buffer;
  fingerprint: Buffer;
  answer: Buffer | null;
};

/** `answer` is sealed; null between the first commit of the request and its end. */
type IdempotencyRecord = { fingerprint: Buffer; answer: Buffer | null };

const ofKey = 'workspace_id = ? AND lineage_id = ? AND idempotency_key = ?';
const columns = '(workspace_id, lineage_id, idempotency_key, fingerprint, answer, expires_at)';

type Asked = { values: Buffer[]; at: Date };

/**
 * Returns the record that is still kept at that time; 'locked' while a request that has not committed yet holds the
 * key. Never waits: a read with FOR UPDATE NOWAIT sees uncommitted records, and costs no more than a plain read.
 */
export async function findRecord(
  workspaceId: string,
  lineageId: string,
  key: string,
  at: Date,
): Promise<IdempotencyRecord | 'locked' | null> {
  const values = keyValues(workspaceId, lineageId, key);
  const found = await outsideTransaction(() => lookUp({ values, at }));
  if (found !== 'locked') return found;
  // The lock may belong to another reader of the same answer, who holds it only for this moment.
  const [row] = await listRecords([{ values, at }]);
  return row ? toRecord(row) : 'locked';
}

/** Joins the look-ups of requests that come at the same moment. */
const lookUp = batcher({ maxItems: 50, maxInFlight: 3, run: findAll });

async function findAll(asked: Asked[]): Promise<(IdempotencyRecord | 'locked' | null)[]> {
  const rows = await listUnlocked(asked);
  if (rows) {
    const byKey = new Map(rows.map((row) => [nameOf(valuesOf(row)), toRecord(row)]));
    return asked.map(({ values }) => byKey.get(nameOf(values)) ?? null);
  }
  // Only single look-ups tell which of several keys is locked.
  if (asked.length === 1) return ['locked'];
  return (await Promise.all(asked.map((one) => findAll([one])))).flat();
}

/** Null when one of them is locked. */
async function listUnlocked(asked: Asked[]): Promise<RequestRow[] | null> {
  try {
    return await listRecords(asked, 'FOR UPDATE NOWAIT');
  } catch (error) {
    if (isLockWait(error)) return null;
    throw error;
  }
}

async function listRecords(asked: Asked[], lock = ''): Promise<RequestRow[]> {
  const conditions = asked.map(() => `(${ofKey} AND expires_at > ?)`).join(' OR ');
  const values = asked.flatMap(({ values, at }) => [...values, at]);
  const sql = `SELECT workspace_id, lineage_id, idempotency_key, fingerprint, answer FROM idempotency_records
    ${byId} WHERE ${conditions} ${lock}`;
  return asked.length === 1 ? execute(sql, values) : query(sql, values);
}

/** Keeps an answer together with its key, in a transaction that adds new rows only. */
export async function insertAnswered(
  workspaceId: string,
  lineageId: string,
  key: string,
  { fingerprint, answer, expiresAt }: IdempotencyRecord & { expiresAt: Date },
): Promise<void> {
  const values = keyValues(workspaceId, lineageId, key);
  await insertNew(`idempotency_records ${columns}`, [...values, fingerprint, answer, expiresAt], {
    sql: `SELECT 1 FROM idempotency_records ${byId}
      WHERE (workspace_id, lineage_id, idempotency_key) IN (?) FOR UPDATE NOWAIT`,
    key: values,
  });
}

/**
 * Takes the key for the current transaction. Waits for another transaction that holds the key, up to the session's lock
 * wait timeout: 'locked' when that transaction has not ended by then, 'taken' when it has committed.
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

/** Deletes an expired record that was not purged yet, to make room for a new one. */
export function deleteExpiredRecord(
  workspaceId: string,
  lineageId: string,
  key: string,
  at: Date,
): Promise<boolean> {
  // In this form, with the table named twice, DELETE takes an index hint.
  return changeRow(`DELETE r FROM idempotency_records r ${byId} WHERE ${ofKey} AND expires_at <= ?`, [
    ...keyValues(workspaceId, lineageId, key),
    at,
  ]);
}

export async function deleteRecord(workspaceId: string, lineageId: string, key: string): Promise<void> {
  await execute(`DELETE r FROM idempotency_records r ${byId} WHERE ${ofKey}`, [
    ...keyValues(workspaceId, lineageId, key),
  ]);
}

function keyValues(workspaceId: string, lineageId: string, key: string): Buffer[] {
  return [idToBytes(workspaceId), idToBytes(lineageId), Buffer.from(key, 'latin1')];
}

function valuesOf(row: RequestRow): Buffer[] {
  return [row.workspace_id, row.lineage_id, row.idempotency_key];
}

function nameOf(values: readonly Buffer[]): string {
  return Buffer.concat(values).toString('latin1');
}

function toRecord(row: RequestRow): IdempotencyRecord {
  return { fingerprint: row.fingerprint, answer: row.answer };
}
