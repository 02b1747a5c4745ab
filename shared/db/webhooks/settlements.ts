import { firstUuidAt, idToBytes } from '../../formats/ids.ts';
import { byId, changeRow, execute, query } from '../client.ts';
import { settlements, type WebhookRecord } from './webhooks.ts';

/** Requests of a workspace to send its deliveries again. */

/** Makes a delivery due again, whatever its outcome was; false, changing nothing, while a worker has claimed it. */
export function updateRedelivered(
  workspaceId: string,
  webhookId: string,
  deliveryId: string,
  at: Date,
): Promise<boolean> {
  return changeRow(
    `UPDATE webhook_deliveries ${byId} SET status = 'pending', due_at = ?, parked = 0, claims = claims + 1,
       schedule_step = 0, lost_claims = 0, completed_at = NULL, restarted_at = ?
     WHERE id = ? AND workspace_id = ? AND webhook_id = ? AND lease_token IS NULL`,
    [at, at, idToBytes(deliveryId), idToBytes(workspaceId), idToBytes(webhookId)],
  );
}

/** Returns how many turns (claims) a delivery has had; null when there is no such delivery. */
export async function findDeliveryClaims(
  workspaceId: string,
  webhookId: string,
  deliveryId: string,
): Promise<number | null> {
  const [row] = await execute<{ claims: number }[]>(
    'SELECT claims FROM webhook_deliveries WHERE id = ? AND workspace_id = ? AND webhook_id = ?',
    [idToBytes(deliveryId), idToBytes(workspaceId), idToBytes(webhookId)],
  );
  return row ? row.claims : null;
}

/** The count stops here, because no caller should wait for a longer one. */
const mostCounted = 100_000;

/**
 * Returns how many deliveries were made or ended since `since` and failed or were skipped, without tests; the count
 * stops at a limit.
 */
export async function findRecoverableCount(
  workspaceId: string,
  webhookId: string,
  since: Date,
): Promise<number> {
  const ended = (columns: string, index: string, condition: string) =>
    `(SELECT ${columns} FROM webhooks w STRAIGHT_JOIN webhook_deliveries d FORCE INDEX (webhook_deliveries_listed_by_${index})
      ON d.webhook_id = w.id WHERE w.workspace_id = ? AND w.id = ? AND ${condition} LIMIT ?) AS some`;
  // A delivery ends after it was made. So for deliveries made since then, two reads of an index are enough; the second
  // one finds few.
  const made = (index: string, condition: string) =>
    `(SELECT COUNT(*) FROM ${ended('d.id', index, `d.id >= ? AND ${condition}`)})`;
  // No index has the time of the end. So for deliveries made before, the rows are read, newest first.
  const madeBefore = (status: string) =>
    `SELECT SUM(completed_at >= ? AND event_type <> 'webhook.test') AS n
     FROM ${ended('d.completed_at, d.event_type', 'status', `d.status = '${status}' AND d.id < ? ORDER BY d.id DESC`)}`;
  const values = [idToBytes(workspaceId), idToBytes(webhookId), firstUuidAt(since), mostCounted];
  const [row] = await query<{ made: number; earlier: number | string }[]>(
    `SELECT ${made('status', "d.status IN ('failed', 'skipped')")}
       - ${made('type', "d.event_type = 'webhook.test' AND d.status IN ('failed', 'skipped')")} AS made,
       COALESCE(SUM(n), 0) AS earlier
     FROM (${madeBefore('failed')} UNION ALL ${madeBefore('skipped')}) AS before_then`,
    [...values, ...values, since, ...values, since, ...values],
  );
  return Math.min(row!.made + Number(row!.earlier), mostCounted);
}

/**
 * Requests that deliveries that failed or were skipped since `since` be sent again. An earlier request that is still
 * open is merged with this one, and the earlier `since` holds. `created_at` rises even within a millisecond, so that
 * the end of the earlier request does not delete this one.
 */
export async function insertRecovery(
  workspaceId: string,
  webhookId: string,
  since: Date,
  at: Date,
): Promise<void> {
  await execute(
    `INSERT INTO ${settlements.into} VALUES ${settlements.marks}
     ON DUPLICATE KEY UPDATE since = LEAST(webhook_settlements.since, VALUES(since)),
       created_at = GREATEST(VALUES(created_at), webhook_settlements.created_at + INTERVAL 1000 MICROSECOND)`,
    settlements.toValues({ webhookId, workspaceId, kind: 'recover', since, createdAt: at }),
  );
}

/**
 * Ends the pause that the endpoint asked for: deliveries that wait for its end are due now, and are released gradually.
 * A delivery that waits for its next scheduled retry keeps waiting. If the attempt that would start a pause is still
 * running or has just ended, that pause is never written. The caller has locked the webhook.
 */
export async function updateWebhookResumed(
  workspaceId: string,
  { id, pausedUntil }: Pick<WebhookRecord, 'id' | 'pausedUntil'>,
  at: Date,
): Promise<void> {
  const webhookId = idToBytes(id);
  const isPaused = pausedUntil !== null && pausedUntil > at;
  // Workers of the previous version compare with updated_at.
  await execute(
    `UPDATE webhooks ${byId} SET pause_ended_at = ?, updated_at = ?${isPaused ? ', paused_until = ?, busy_count = 0' : ''}
     WHERE workspace_id = ? AND id = ?`,
    [at, at, ...(isPaused ? [at] : []), idToBytes(workspaceId), webhookId],
  );
  if (!isPaused) return;
  await query(
    `UPDATE webhook_deliveries FORCE INDEX (webhook_deliveries_admission) SET due_at = ?
     WHERE status = 'pending' AND parked = 1 AND webhook_id = ? AND workspace_id = ? AND due_at > ? AND due_at <= ?
       AND (attempts = 0 OR response_status = 429 OR due_at = ?)`,
    [at, webhookId, idToBytes(workspaceId), at, pausedUntil, pausedUntil],
  );
}

/** Releases the webhook's deliveries gradually from `at` on, unless the webhook is paused for longer already. */
export async function updateWebhookRested(workspaceId: string, webhookId: string, at: Date): Promise<void> {
  await execute(
    `UPDATE webhooks ${byId} SET paused_until = GREATEST(COALESCE(paused_until, ?), ?) WHERE workspace_id = ? AND id = ?`,
    [at, at, idToBytes(workspaceId), idToBytes(webhookId)],
  );
}
