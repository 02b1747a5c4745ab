import { firstUuidAt, idFromBytes, idToBytes } from '../../../formats/ids.ts';
import { byId, changeRows, query } from '../../client.ts';

/** Fails deliveries that have waited too long, and deletes old ones: across workspaces. */

/**
 * Returns the webhooks that have a pending delivery made before `at`. Each webhook with pending deliveries costs one
 * step along the index.
 */
export async function listWebhooksWaitingSince(at: Date): Promise<string[]> {
  const rows = await query<{ webhook_id: Buffer }[]>(
    `SELECT webhook_id, MIN(id) AS oldest FROM webhook_deliveries FORCE INDEX (webhook_deliveries_listed_by_status)
     WHERE status = 'pending' GROUP BY webhook_id HAVING oldest < ?`,
    [firstUuidAt(at)],
  );
  return rows.map((row) => idFromBytes('webhook', row.webhook_id));
}

/**
 * Fails a batch of deliveries that were made before `before`, were not sent again since, and are not leased. Returns
 * how many failed, and the id after which the next batch begins; null where there is none. Many deliveries may have
 * been sent again, so no batch reads a delivery of an earlier batch.
 */
export async function updateExpired(
  webhookId: string,
  { before, after, limit }: { before: Date; after: string | null; limit: number },
  at: Date,
): Promise<{ given: number; last: string | null }> {
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM webhook_deliveries FORCE INDEX (webhook_deliveries_listed_by_status)
     WHERE webhook_id = ? AND status = 'pending' AND id > ? AND id < ? AND lease_token IS NULL
       AND (restarted_at IS NULL OR restarted_at < ?) ORDER BY id LIMIT ?`,
    [
      idToBytes(webhookId),
      after === null ? Buffer.alloc(0) : idToBytes(after),
      firstUuidAt(before),
      before,
      limit,
    ],
  );
  if (rows.length === 0) return { given: 0, last: null };
  const given = await changeRows(
    `UPDATE webhook_deliveries ${byId} SET status = 'failed', due_at = NULL, parked = 0, completed_at = ?
     WHERE id IN (?) AND status = 'pending' AND lease_token IS NULL
       AND (restarted_at IS NULL OR restarted_at < ?)`,
    [at, rows.map((row) => row.id), before],
  );
  const last = rows.length < limit ? null : idFromBytes('delivery', rows.at(-1)!.id);
  return { given, last };
}

// Deliveries that were sent again lately stay, and so do pending ones.
const isOver = "COALESCE(restarted_at, created_at) < IF(status = 'pending', ?, ?)";
/** A delivery that is still pending this long after its end cannot be claimed any more: its event is gone. */
const stuckMs = 86_400_000;

/**
 * Deletes a batch of deliveries that were made before `at`, were not sent again since, and are not pending; ids carry
 * the time. Returns how many were deleted, and the id after which the next batch begins. Many deliveries may stay, so
 * no batch reads a delivery of an earlier batch.
 */
export async function deleteDeliveriesBefore(
  at: Date,
  after: string | null,
  limit: number,
): Promise<{ gone: number; last: string | null }> {
  const from = after === null ? Buffer.alloc(0) : idToBytes(after);
  const times = [new Date(at.getTime() - stuckMs), at];
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM webhook_deliveries ${byId} WHERE id > ? AND id < ? AND ${isOver} ORDER BY id LIMIT ?`,
    [from, firstUuidAt(at), ...times, limit],
  );
  const last = rows.at(-1)?.id;
  if (!last) return { gone: 0, last: after };
  await query(`DELETE FROM webhook_deliveries WHERE id > ? AND id <= ? AND ${isOver}`, [
    from,
    last,
    ...times,
  ]);
  return { gone: rows.length, last: idFromBytes('delivery', last) };
}

/**
 * Deletes a batch of attempts whose deliveries were made before `at` and are deleted. Call it when no more of those
 * deliveries are to be deleted: it reads the attempts of every delivery that stays.
 */
export async function deleteAttemptsBefore(
  at: Date,
  after: string | null,
  limit: number,
): Promise<{ gone: number; last: string | null }> {
  const rows = await query<{ delivery_id: Buffer }[]>(
    // With NOT EXISTS the server would read all deliveries first.
    `SELECT delivery_id FROM webhook_attempts ${byId} LEFT JOIN webhook_deliveries d ${byId} ON d.id = delivery_id
     WHERE delivery_id > ? AND delivery_id < ? AND d.id IS NULL ORDER BY delivery_id LIMIT ?`,
    [after === null ? Buffer.alloc(0) : idToBytes(after), firstUuidAt(at), limit],
  );
  const last = rows.at(-1)?.delivery_id;
  if (!last) return { gone: 0, last: after };
  await query('DELETE FROM webhook_attempts WHERE delivery_id IN (?)', [
    rows.map(({ delivery_id }) => delivery_id),
  ]);
  return { gone: rows.length, last: idFromBytes('delivery', last) };
}
