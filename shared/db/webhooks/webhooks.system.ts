import { idToBytes } from '../../formats/ids.ts';
import type { RowOf } from '../client/table.ts';
import { byId, changeRow, execute, query } from '../client.ts';
import { admittedOf, hasParkedDue } from '../work/admission.system.ts';
import { deliveryTable } from './deliveries/table.system.ts';
import { type WebhookRecord, webhooks } from './webhooks.ts';

/** Webhooks of all workspaces, as the relay and the workers read and pause them. */

export type Subscriber = WebhookRecord & {
  /** How many of its deliveries have a job in Redis. */
  admitted: number;
  /** Some deliveries are due and have no job in Redis. */
  hasBacklog: boolean;
};

/**
 * The webhooks of these workspaces. Read afresh for each batch of events: a cached list would let events slip
 * past a webhook that was made a moment ago.
 */
export async function listSubscribers(workspaceIds: Buffer[], at: Date): Promise<Subscriber[]> {
  if (workspaceIds.length === 0) return [];
  const admitted = admittedOf(deliveryTable, 'default', 'w.id');
  const backlog = hasParkedDue(deliveryTable, 'default', 'w.id', at);
  const rows = await query<(RowOf<typeof webhooks> & { admitted: number; has_backlog: number })[]>(
    `SELECT w.*, ${admitted.sql} AS admitted, ${backlog.sql} AS has_backlog FROM webhooks w
     WHERE w.workspace_id IN (?) ORDER BY w.id`,
    [...admitted.values, ...backlog.values, workspaceIds],
  );
  return rows.map((row) => ({
    ...webhooks.toRecord(row),
    admitted: row.admitted,
    hasBacklog: row.has_backlog === 1,
  }));
}

/**
 * Pauses the webhook until then because its endpoint asked for it, `busyCount` times in a row; a later end stays.
 * Returns false, and does nothing, where somebody has ended the pause since the attempt began, or given the webhook
 * another URL than the one that has answered.
 */
export function updateWebhookPaused(
  webhookId: string,
  { until, busyCount, begunAt, url }: { until: Date; busyCount: number; begunAt: Date; url: string },
): Promise<boolean> {
  return changeRow(
    `UPDATE webhooks ${byId} SET paused_until = GREATEST(COALESCE(paused_until, ?), ?), busy_count = GREATEST(busy_count, ?)
     WHERE id = ? AND url = ? AND (pause_ended_at IS NULL OR pause_ended_at <= ?)`,
    [until, until, busyCount, idToBytes(webhookId), url, begunAt],
  );
}

/** Resets `busy_count`, because the endpoint has given an answer other than a 429. */
export async function updateWebhookHeard(webhookId: string): Promise<void> {
  await execute(`UPDATE webhooks ${byId} SET busy_count = 0 WHERE id = ?`, [idToBytes(webhookId)]);
}

/** Slows the webhooks, as if their pauses had ended at `until`; leaves those whose end is no longer `before`. */
export async function updateWebhooksSlowed(
  webhookIds: string[],
  before: Date | null,
  until: Date,
): Promise<void> {
  await query(`UPDATE webhooks ${byId} SET paused_until = ? WHERE id IN (?) AND paused_until <=> ?`, [
    until,
    webhookIds.map(idToBytes),
    before,
  ]);
}

/** How many active webhooks fail at present. */
export async function findFailingCount(): Promise<number> {
  const [row] = await query<{ n: number }[]>(
    'SELECT COUNT(*) AS n FROM webhooks WHERE active = 1 AND failing_since IS NOT NULL',
  );
  return row!.n;
}
