import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, changeRow, execute, query, updateEach } from '../client.ts';
import { type WebhookRecord, webhooks } from './webhooks.ts';

/** The outages of webhooks, for the checks of their health: across workspaces. */

/** Returns the webhooks among these that fail. Waits for no lock. */
export async function listFailing(webhookIds: string[]): Promise<string[]> {
  if (webhookIds.length === 0) return [];
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM webhooks ${byId} WHERE id IN (?) AND failing_since IS NOT NULL`,
    [webhookIds.map(idToBytes)],
  );
  return rows.map((row) => idFromBytes('webhook', row.id));
}

/** Locks these webhooks until the transaction ends, in the order of their ids: two transactions cannot deadlock. */
export async function listHealthForUpdate(webhookIds: string[]): Promise<WebhookRecord[]> {
  return webhooks.toRecords(
    await query(`SELECT * FROM webhooks ${byId} WHERE id IN (?) ORDER BY id FOR UPDATE`, [
      webhookIds.map(idToBytes),
    ]),
  );
}

/** Active webhooks that fail, longest first. `after` is the one that the last page ended with. */
export async function listOutages(after: WebhookRecord | null, limit: number): Promise<WebhookRecord[]> {
  const since = after?.failingSince ?? new Date(0);
  return webhooks.toRecords(
    await query(
      `SELECT * FROM webhooks
     WHERE active = 1 AND failing_since >= ? AND (failing_since > ? OR id > ?) ORDER BY failing_since, id LIMIT ?`,
      [since, since, after ? idToBytes(after.id) : Buffer.alloc(0), limit],
    ),
  );
}

const outage = webhooks.pick(
  'failingSince',
  'lastFailedAt',
  'consecutiveFailures',
  'recoveredAt',
  'atRiskWarnedAt',
);

/** Writes the outage columns of these webhooks, which must be locked. */
export function updateHealth(records: WebhookRecord[]): Promise<void> {
  return updateEach(outage, records);
}

/** Marks the outage as warned of; true only for the one caller that is to send the warning. */
export function updateWarned(webhookId: string, at: Date): Promise<boolean> {
  return changeRow(
    `UPDATE webhooks ${byId} SET at_risk_warned_at = ?
     WHERE id = ? AND active = 1 AND failing_since IS NOT NULL AND at_risk_warned_at IS NULL AND auto_disable_exempt = 0`,
    [at, idToBytes(webhookId)],
  );
}

/** Switches the webhook off; true only for the one caller that did it. */
export function updateSwitchedOff(webhookId: string, at: Date): Promise<boolean> {
  return changeRow(
    `UPDATE webhooks ${byId} SET active = 0, auto_disabled = 1, disabled_at = ?
     WHERE id = ? AND active = 1 AND auto_disabled = 0 AND auto_disable_exempt = 0 AND failing_since IS NOT NULL`,
    [at, idToBytes(webhookId)],
  );
}

/** How many rows of a webhook are searched, at most, for its last success or its last failed attempt. */
const looksBack = 200;

/**
 * Returns when each webhook last accepted a delivery, according to the deliveries themselves. Tests are left out,
 * because a test says nothing about the health.
 */
export async function listLastAccepted(webhookIds: string[]): Promise<Map<string, Date>> {
  const newest = `SELECT completed_at FROM webhook_deliveries FORCE INDEX (webhook_deliveries_listed_by_status)
    WHERE webhook_id = ? AND status = 'delivered' AND event_type <> 'webhook.test' ORDER BY id DESC LIMIT ${looksBack}`;
  const rows = await query<{ id: Buffer; at: Date | null }[]>(
    webhookIds
      .map((_, index) => `SELECT ? AS id, MAX(completed_at) AS at FROM (${newest}) AS newest${index}`)
      .join(' UNION ALL '),
    webhookIds.flatMap((id) => [idToBytes(id), idToBytes(id)]),
  );
  return new Map(rows.flatMap(({ id, at }) => (at ? [[idFromBytes('webhook', id), at] as const] : [])));
}

/**
 * Returns the webhooks with an attempt that is due, running, or postponed because the endpoint asked for that. The
 * result of that attempt says more about the endpoint than the clock does.
 */
export async function listAwaitingAttempt(webhookIds: string[], at: Date): Promise<Set<string>> {
  const pending = 'webhook_deliveries FORCE INDEX (webhook_deliveries_admission)';
  const ofWebhook = "status = 'pending' AND webhook_id = ?";
  const rows = await query<{ id: Buffer }[]>(
    webhookIds
      .map(
        () => `(SELECT id FROM webhooks ${byId} WHERE id = ? AND paused_until > ?)
          UNION ALL (SELECT webhook_id FROM ${pending} WHERE ${ofWebhook} AND parked = 0 AND due_at <= ? LIMIT 1)
          UNION ALL (SELECT webhook_id FROM ${pending} WHERE ${ofWebhook} AND parked = 1 AND due_at <= ? LIMIT 1)
          UNION ALL (SELECT webhook_id FROM ${pending}
            WHERE ${ofWebhook} AND parked = 0 AND lease_token IS NOT NULL LIMIT 1)`,
      )
      .join(' UNION ALL '),
    webhookIds.map(idToBytes).flatMap((id) => [id, at, id, at, id, at, id]),
  );
  return new Set(rows.map((row) => idFromBytes('webhook', row.id)));
}

/** When the oldest delivery that still waits was made. */
export async function findOldestWaiting(webhookId: string): Promise<Date | null> {
  const [row] = await execute<{ created_at: Date }[]>(
    `SELECT created_at FROM webhook_deliveries FORCE INDEX (webhook_deliveries_listed_by_status)
     WHERE webhook_id = ? AND status = 'pending' ORDER BY id LIMIT 1`,
    [idToBytes(webhookId)],
  );
  return row?.created_at ?? null;
}

export type FailedAttempt = { attemptedAt: Date; responseStatus: number | null; error: string };

/**
 * Returns the latest failed attempt that a delivery still holds. Retries are due later than first attempts, so
 * this reads from the end of the index.
 */
export async function findLastFailedAttempt(webhookId: string): Promise<FailedAttempt | null> {
  const attempt = 'SELECT attempted_at, response_status, error FROM webhook_deliveries';
  const pending = (parked: 0 | 1) =>
    `(${attempt} FORCE INDEX (webhook_deliveries_admission)
      WHERE status = 'pending' AND parked = ${parked} AND webhook_id = ? ORDER BY due_at DESC LIMIT ${looksBack})`;
  const [row] = await query<{ attempted_at: Date; response_status: number | null; error: string }[]>(
    `SELECT * FROM (${pending(0)} UNION ALL ${pending(1)}
       UNION ALL (${attempt} FORCE INDEX (webhook_deliveries_listed_by_status)
         WHERE webhook_id = ? AND status = 'failed' ORDER BY id DESC LIMIT ${looksBack})) AS attempts
     WHERE error IS NOT NULL AND (response_status IS NULL OR response_status <> 429)
     ORDER BY attempted_at DESC LIMIT 1`,
    [idToBytes(webhookId), idToBytes(webhookId), idToBytes(webhookId)],
  );
  return row
    ? { attemptedAt: row.attempted_at, responseStatus: row.response_status, error: row.error }
    : null;
}
