import { batcher } from '../../common/batcher.ts';
import { idToBytes } from '../../formats/ids.ts';
import { bytes, time } from '../client/columns.ts';
import { type RecordOf, type RowOf, table } from '../client/table.ts';
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

const records = table('idempotency_records', {
  workspaceId: bytes(),
  lineageId: bytes(),
  idempotencyKey: bytes(),
  fingerprint: bytes(),
  /** Sealed; null between the first commit of the request and its end. */
  answer: bytes().nullable(),
  expiresAt: time(),
});
const keys = records.pick('workspaceId', 'lineageId', 'idempotencyKey');
const found = records.omit('expiresAt');
const unanswered = records.omit('answer');
type IdempotencyRow = RowOf<typeof found>;
const answered = records.pick('fingerprint', 'answer');
type IdempotencyRecord = RecordOf<typeof answered>;

const ofKey = 'workspace_id = ? AND lineage_id = ? AND idempotency_key = ?';
const insertion = `INSERT INTO ${unanswered.into} VALUES ${unanswered.marks}`;

type RequestKey = RecordOf<typeof keys>;
type LookUp = { key: RequestKey; at: Date };

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
  const asked = { key: keyOf(workspaceId, lineageId, key), at };
  const record = await outsideTransaction(() => lookUp(asked));
  if (record !== 'locked') return record;
  // The lock may belong to another reader of the same answer, who holds it only for this moment.
  return answered.toFirst(await listRecords([asked])) ?? 'locked';
}

/** Joins the look-ups of requests that come at the same moment. */
const lookUp = batcher({ maxItems: 50, maxInFlight: 3, run: findAll });

async function findAll(asked: LookUp[]): Promise<(IdempotencyRecord | 'locked' | null)[]> {
  const rows = await listUnlocked(asked);
  if (rows) {
    const byKey = new Map(rows.map((row) => [nameOf(keys.toRecord(row)), answered.toRecord(row)]));
    return asked.map(({ key }) => byKey.get(nameOf(key)) ?? null);
  }
  // Only single look-ups tell which of several keys is locked.
  if (asked.length === 1) return ['locked'];
  return (await Promise.all(asked.map((one) => findAll([one])))).flat();
}

/** Null when one of them is locked. */
async function listUnlocked(asked: LookUp[]): Promise<IdempotencyRow[] | null> {
  try {
    return await listRecords(asked, 'FOR UPDATE NOWAIT');
  } catch (error) {
    if (isLockWait(error)) return null;
    throw error;
  }
}

async function listRecords(asked: LookUp[], lock = ''): Promise<IdempotencyRow[]> {
  const conditions = asked.map(() => `(${ofKey} AND expires_at > ?)`).join(' OR ');
  const values = asked.flatMap(({ key, at }) => [...keys.toValues(key), at]);
  const sql = `SELECT ${found.columns} FROM idempotency_records ${byId} WHERE ${conditions} ${lock}`;
  return asked.length === 1 ? execute(sql, values) : query(sql, values);
}

/** Keeps an answer together with its key, in a transaction that adds new rows only. */
export async function insertAnswered(
  workspaceId: string,
  lineageId: string,
  key: string,
  record: IdempotencyRecord & { expiresAt: Date },
): Promise<void> {
  const own = keyOf(workspaceId, lineageId, key);
  await insertNew(records.into, records.toValues({ ...own, ...record }), {
    sql: `SELECT 1 FROM idempotency_records ${byId}
      WHERE (workspace_id, lineage_id, idempotency_key) IN (?) FOR UPDATE NOWAIT`,
    key: keys.toValues(own),
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
    await execute(insertion, unanswered.toValues({ ...keyOf(workspaceId, lineageId, key), ...record }));
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

function keyOf(workspaceId: string, lineageId: string, key: string): RequestKey {
  return {
    workspaceId: idToBytes(workspaceId),
    lineageId: idToBytes(lineageId),
    idempotencyKey: Buffer.from(key, 'latin1'),
  };
}

function keyValues(workspaceId: string, lineageId: string, key: string) {
  return keys.toValues(keyOf(workspaceId, lineageId, key));
}

function nameOf({ workspaceId, lineageId, idempotencyKey }: RequestKey): string {
  return Buffer.concat([workspaceId, lineageId, idempotencyKey]).toString('latin1');
}
