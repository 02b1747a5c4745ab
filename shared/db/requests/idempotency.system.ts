import { byId, changeRows, query } from '../client.ts';

/**
 * Deletes a batch of the records that have expired by `at`; returns how many were deleted. A plain read finds them, and
 * the DELETE names their keys: a DELETE over the index of times would look at the next record too, and wait for the
 * request that has that record locked.
 */
export async function deleteExpiredRecords(at: Date, limit: number): Promise<number> {
  const rows = await query<{ workspace_id: Buffer; lineage_id: Buffer; idempotency_key: Buffer }[]>(
    `SELECT workspace_id, lineage_id, idempotency_key FROM idempotency_records
     WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
    [at, limit],
  );
  if (rows.length === 0) return 0;
  return changeRows(
    `DELETE r FROM idempotency_records r ${byId}
     WHERE (r.workspace_id, r.lineage_id, r.idempotency_key) IN (?) AND r.expires_at <= ?`,
    [rows.map((row) => [row.workspace_id, row.lineage_id, row.idempotency_key]), at],
  );
}
