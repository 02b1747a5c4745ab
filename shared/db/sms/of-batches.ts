import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, execute, query, writtenRows } from '../client.ts';
import { changeWaiting } from '../work/waiting-counts.ts';
import { accepted, countInBatch, countNew, type SmsRecord, sms } from './messages.ts';

/** Inserts many texts in one statement. */
export async function insertManySms(
  workspaceId: string,
  records: SmsRecord[],
  insertion: string = smsInsertion(workspaceId, records),
): Promise<void> {
  if (records.length === 0) return;
  await query(insertion);
  await countNew(workspaceId, records);
}

/** Returns the text of that statement, for callers who build it before their transaction begins. */
export function smsInsertion(workspaceId: string, records: SmsRecord[]): string {
  const rows = records.map((record) => accepted.toValues({ ...record, workspaceId }));
  return `INSERT INTO ${accepted.into} VALUES ${writtenRows(rows)}`;
}

/** Lists the ids of the messages of a batch, in their order. */
export async function listIdsOfBatch(
  workspaceId: string,
  batchId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<string[]> {
  const rows = await execute<{ id: Buffer }[]>(
    `SELECT id FROM sms_messages FORCE INDEX (sms_by_batch) WHERE workspace_id = ? AND batch_id = ? AND id > ?
     ORDER BY id LIMIT ?`,
    [idToBytes(workspaceId), idToBytes(batchId), after === null ? Buffer.alloc(0) : idToBytes(after), limit],
  );
  return rows.map((row) => idFromBytes('sms', row.id));
}

/** Lists the queued texts among these that no gateway can have, not even in part; locked until the transaction ends. */
export async function listCancellableForUpdate(workspaceId: string, ids: string[]): Promise<SmsRecord[]> {
  return sms.toRecords(
    await query(
      `SELECT * FROM sms_messages ${byId} WHERE id IN (?) AND workspace_id = ? AND status = 'queued'
       AND handover_at IS NULL AND uncertain_count = 0 AND is_partly_taken = 0 ORDER BY id FOR UPDATE`,
      [ids.map(idToBytes), idToBytes(workspaceId)],
    ),
  );
}

/** Cancels queued messages, whose rows must be locked. A worker that holds a lease on one loses it. */
export async function updateManySmsCancelled(workspaceId: string, records: SmsRecord[]): Promise<void> {
  await query(
    `UPDATE sms_messages ${byId} SET status = 'cancelled', updated_at = GREATEST(updated_at, ?), due_at = NULL,
       lease_token = NULL, parked = 0, event_seq = event_seq + 1 WHERE id IN (?) AND workspace_id = ?`,
    [records[0]!.updatedAt, records.map(({ id }) => idToBytes(id)), idToBytes(workspaceId)],
  );
  await changeWaiting(workspaceId, { messages: -records.length });
  for (const record of records) await countInBatch(workspaceId, 'queued', record);
}

/** Tells whether some queued texts can still be stopped: no gateway has them, or a gateway may still refuse them. */
export async function findHasStoppableSms(workspaceId: string, batchId: string): Promise<boolean> {
  const [row] = await execute(
    `SELECT 1 FROM sms_messages FORCE INDEX (sms_by_batch) WHERE workspace_id = ? AND batch_id = ?
     AND status = 'queued' AND uncertain_count = 0 AND gateway IS NULL LIMIT 1`,
    [idToBytes(workspaceId), idToBytes(batchId)],
  );
  return row !== undefined;
}
