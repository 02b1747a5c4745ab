import { byId, type Changed, query } from '../client.ts';

/**
 * Deletes a batch of the records that have expired by then; returns how many went. Found by a plain read and deleted by
 * their keys: a DELETE over the index of times would look at the next record too, and wait for the request that has it
 * in hand.
 */
export async function deleteExpiredRecords(at: Date, limit: number): Promise<number> {
  const rows = await query(
    `SELECT workspace_id, lineage_id, idempotency_key FROM idempotency_records
     WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
    [at, limit],
  );
  if (rows.length === 0) return 0;
  const keys = rows.map((row) => [
    row.workspace_id.toString('hex'),
    row.lineage_id.toString('hex'),
    row.idempotency_key.toString('hex'),
  ]);
  const { affectedRows } = await query<Changed>(
    `DELETE r FROM JSON_TABLE(?, '$[*]' COLUMNS (workspace CHAR(32) PATH '$[0]', lineage CHAR(32) PATH '$[1]',
       idem_key VARCHAR(510) PATH '$[2]')) AS gone
     STRAIGHT_JOIN idempotency_records r ${byId} ON r.workspace_id = UNHEX(gone.workspace)
       AND r.lineage_id = UNHEX(gone.lineage) AND r.idempotency_key = UNHEX(gone.idem_key)
     WHERE r.expires_at <= ?`,
    [JSON.stringify(keys), at],
  );
  return affectedRows;
}
