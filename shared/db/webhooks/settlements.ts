import { firstUuidAt, idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, execute, query } from '../client.ts';
import type { WebhookRecord } from './webhooks.ts';

/** Requests of a workspace to send its deliveries again. */

/** Makes a delivery due again, whatever its outcome was; false, changing nothing, while a worker has claimed it. */
export async function updateRedelivered(
  workspaceId: string,
  webhookId: string,
  deliveryId: string,
  at: Date,
): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE webhook_deliveries ${byId} SET status = 'pending', due_at = ?, parked = 0, claims = claims + 1,
       schedule_step = 0, lost_claims = 0, completed_at = NULL, restarted_at = ?
     WHERE id = ? AND workspace_id = ? AND webhook_id = ? AND lease_token IS NULL`,
    [at, at, idToBytes(deliveryId), idToBytes(workspaceId), idToBytes(webhookId)],
  );
  return affectedRows === 1;
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

/** Returns how many deliveries made since `since` failed or were skipped, without tests; the count stops at a limit. */
export async function findRecoverableCount(
  workspaceId: string,
  webhookId: string,
  since: Date,
): Promise<number> {
  const ended = (index: string, condition: string) =>
    `(SELECT COUNT(*) FROM (SELECT d.id FROM webhooks w STRAIGHT_JOIN webhook_deliveries d FORCE INDEX (${index})
      ON d.webhook_id = w.id WHERE w.workspace_id = ? AND w.id = ? AND d.id >= ? AND ${condition} LIMIT ?) AS some)`;
  // The first count reads nothing but the index; the second finds few.
  const values = [idToBytes(workspaceId), idToBytes(webhookId), firstUuidAt(since), mostCounted];
  const [row] = await query<{ n: number }[]>(
    `SELECT ${ended('webhook_deliveries_listed_by_status', "d.status IN ('failed', 'skipped')")}
       - ${ended('webhook_deliveries_listed_by_type', "d.event_type = 'webhook.test' AND d.status IN ('failed', 'skipped')")} AS n`,
    [...values, ...values],
  );
  return row!.n;
}

/**
 * Requests that deliveries that failed or were skipped since `since` be sent again. An earlier request that is still
 * open is merged with this one, and the earlier `since` holds.
 */
export async function insertRecovery(
  workspaceId: string,
  webhookId: string,
  since: Date,
  at: Date,
): Promise<void> {
  await execute(
    `INSERT INTO webhook_settlements (webhook_id, kind, workspace_id, since, created_at) VALUES (?, 'recover', ?, ?, ?)
     ON DUPLICATE KEY UPDATE since = LEAST(webhook_settlements.since, ?), created_at = ?`,
    [idToBytes(webhookId), idToBytes(workspaceId), since, at, since, at],
  );
}

/**
 * Ends the pause that the endpoint asked for: deliveries that wait for its end are due now, and are released gradually.
 * A delivery that waits for the next step of its own schedule goes on waiting. The caller has locked the webhook.
 */
export async function updateWebhookResumed(
  workspaceId: string,
  { id, pausedUntil }: Pick<WebhookRecord, 'id' | 'pausedUntil'>,
  at: Date,
): Promise<void> {
  if (!pausedUntil || pausedUntil <= at) return;
  const webhookId = idToBytes(id);
  await execute(
    `UPDATE webhooks ${byId} SET paused_until = ?, busy_count = 0 WHERE workspace_id = ? AND id = ?`,
    [at, idToBytes(workspaceId), webhookId],
  );
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
