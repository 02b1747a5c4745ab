import { firstUuidAt, idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, execute, query } from '../client.ts';
import type { WebhookRecord } from './webhooks.ts';

/** Requests of a workspace to send its deliveries again. */

/** Has one sent again, whatever became of it, unless a worker has it in hand just now. */
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

/** How often a delivery has had its turn; null when there is none. */
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

/** Of more deliveries than these, nobody waits for the count. */
const mostCounted = 100_000;

/**
 * How many deliveries that were made since then have failed or were skipped; tests do not count, nor what is past a
 * limit.
 */
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
 * Asks for what failed or was skipped since then to be sent again; an earlier wish that is not yet met goes on with it.
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
 * Ends the pause that its endpoint has asked for, and what waits for its end is due now; it is let out slowly. A
 * delivery that waits for the next step of its own schedule goes on waiting. The webhook is locked by the caller.
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

/** From then on the webhook's deliveries are let out slowly, unless it is to rest for longer anyway. */
export async function updateWebhookRested(workspaceId: string, webhookId: string, at: Date): Promise<void> {
  await execute(
    `UPDATE webhooks ${byId} SET paused_until = GREATEST(COALESCE(paused_until, ?), ?) WHERE workspace_id = ? AND id = ?`,
    [at, at, idToBytes(workspaceId), idToBytes(webhookId)],
  );
}
