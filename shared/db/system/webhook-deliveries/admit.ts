import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import { byId, type Changed, query, type Row } from '../../client.ts';
import { type Pacing, toPacing } from './pacing.ts';

/** Which deliveries of which webhooks have a job in Redis: those with parked = 0, as many as the webhook has room for. */

const waiting = 'webhook_deliveries FORCE INDEX (webhook_deliveries_admission)';

/**
 * Webhooks with pending deliveries, parked or not, in the order of their ids, each with the time that the first of them
 * is due. One with a million of them is one step along the index, as any other.
 */
export async function listWebhooksWaiting(
  parked: boolean,
  after: string | null,
  limit: number,
): Promise<{ webhookId: string; dueAt: Date }[]> {
  // MariaDB takes the step only where the columns before it are grouped by as well.
  const rows = await query(
    `SELECT webhook_id, MIN(due_at) AS due FROM ${waiting}
     WHERE status = 'pending' AND parked = ? AND webhook_id > ?
     GROUP BY status, parked, webhook_id ORDER BY status, parked, webhook_id LIMIT ?`,
    [parked, after === null ? Buffer.alloc(0) : idToBytes(after), limit],
  );
  return rows.map((row) => ({ webhookId: idFromBytes('webhook', row.webhook_id), dueAt: row.due }));
}

export type Admission = Pacing & { webhookId: string /** How many have a job in Redis. */; admitted: number };

/** How much each of these webhooks has in Redis, and may have; those that are gone are left out. */
export async function listAdmissions(webhookIds: string[]): Promise<Admission[]> {
  if (webhookIds.length === 0) return [];
  const rows = await query(
    `SELECT w.id, w.active, w.auto_disabled, w.paused_until, w.failing_since, w.consecutive_failures, w.last_failed_at,
       w.recovered_at, ${countAdmitted} AS admitted
     FROM webhooks w ${byId} WHERE w.id IN (?)`,
    [webhookIds.map(idToBytes)],
  );
  return rows.map((row) => ({
    ...toPacing(row),
    webhookId: idFromBytes('webhook', row.id),
    admitted: Number(row.admitted),
  }));
}

/** Of the webhook `w`. There are never many more than there may be. */
export const countAdmitted = `(SELECT COUNT(*) FROM ${waiting}
  WHERE status = 'pending' AND parked = 0 AND webhook_id = w.id)`;

/** Whether the webhook `w` has a delivery that is due then and waits for room. */
export const hasParkedDue = `EXISTS (SELECT 1 FROM ${waiting}
  WHERE status = 'pending' AND parked = 1 AND webhook_id = w.id AND due_at <= ?)`;

export type WaitingDelivery = {
  id: string;
  webhookId: string;
  dueAt: Date;
  claims: number;
  requestId: string | null;
  /** A worker had it in hand when its lease ended. */
  isLeft: boolean;
};

/** Of each of these webhooks the deliveries that are due first, no later than `dueBefore` and no more than its limit. */
export async function listDueOf(
  webhooks: { webhookId: string; limit: number }[],
  parked: boolean,
  dueBefore: Date,
): Promise<WaitingDelivery[]> {
  if (webhooks.length === 0) return [];
  const rows = await query(
    webhooks
      .map(
        () => `(SELECT id, webhook_id, due_at, claims, request_id, lease_token IS NOT NULL AS is_left FROM ${waiting}
          WHERE status = 'pending' AND parked = ? AND webhook_id = ? AND due_at <= ? ORDER BY due_at LIMIT ?)`,
      )
      .join(' UNION ALL '),
    webhooks.flatMap(({ webhookId, limit }) => [parked, idToBytes(webhookId), dueBefore, limit]),
  );
  return rows.map(toWaiting);
}

function toWaiting(row: Row): WaitingDelivery {
  return {
    id: idFromBytes('delivery', row.id),
    webhookId: idFromBytes('webhook', row.webhook_id),
    dueAt: row.due_at,
    claims: row.claims,
    requestId: row.request_id?.toString() ?? null,
    isLeft: row.is_left === 1,
  };
}

/**
 * They get a job in Redis; what somebody else admits at this moment is his. Returns how many are ours. They are due from
 * now on, however long they have waited: by that it is told whether a job is lost.
 */
export async function updateAdmitted(deliveryIds: string[], at: Date): Promise<number> {
  const { affectedRows } = await query<Changed>(
    `UPDATE webhook_deliveries ${byId} SET parked = 0, claims = claims + 1, due_at = GREATEST(due_at, ?)
     WHERE id IN (?) AND status = 'pending' AND parked = 1`,
    [at, deliveryIds.map(idToBytes)],
  );
  return affectedRows;
}

/** They have no job in Redis after all, and their old place. What somebody has in hand is left alone. */
export async function updateParked(deliveryIds: string[]): Promise<void> {
  if (deliveryIds.length > 0)
    await query(
      `UPDATE webhook_deliveries ${byId} SET parked = 1, due_at = IF(attempts = 0, created_at, due_at)
       WHERE id IN (?) AND status = 'pending' AND parked = 0 AND lease_token IS NULL`,
      [deliveryIds.map(idToBytes)],
    );
}

/**
 * Since when the delivery that waits longest has been due, of those that have a job in Redis and of those that wait for
 * room there though their webhook is in good health; null when there is none.
 */
export async function findOldestDueDeliveries(
  at: Date,
): Promise<{ admitted: Date | null; parked: Date | null }> {
  const rows = await query(
    `SELECT parked, MIN(due) AS due FROM
       (SELECT parked, webhook_id, MIN(due_at) AS due FROM ${waiting} WHERE status = 'pending'
        GROUP BY status, parked, webhook_id) AS firsts
     LEFT JOIN webhooks w ON w.id = firsts.webhook_id
     WHERE due <= ? AND (parked = 0 OR (w.active = 1 AND w.failing_since IS NULL
       AND (w.paused_until IS NULL OR w.paused_until <= ?)))
     GROUP BY parked`,
    [at, at],
  );
  const of = (parked: 0 | 1): Date | null => rows.find((row) => row.parked === parked)?.due ?? null;
  return { admitted: of(0), parked: of(1) };
}
