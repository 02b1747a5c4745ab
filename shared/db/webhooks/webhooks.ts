import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, execute, query, type Row } from '../client.ts';

export type WebhookRecord = {
  id: string;
  workspaceId: string;
  url: string;
  description: string | null;
  events: string[];
  /** Null: a legacy webhook. */
  apiVersion: string | null;
  /** False while the customer pauses it and after the service switched it off. */
  active: boolean;
  autoDisabled: boolean;
  disabledAt: Date | null;
  autoDisableExempt: boolean;
  /** Null: the service's default. */
  autoDisableAfterMinutes: number | null;
  /** Null: the service's default. */
  atRiskAlertPercent: number | null;
  atRiskWarnedAt: Date | null;
  failingSince: Date | null;
  lastFailedAt: Date | null;
  consecutiveFailures: number;
  /** The end of the last outage or pause: from then the backlog is let out slowly. */
  recoveredAt: Date | null;
  /** Its endpoint asked for peace until then, by a 429. */
  pausedUntil: Date | null;
  /** How often in a row it did. */
  busyCount: number;
  inboundNumber: string | null;
  secretVersion: number;
  /** Sealed; opens with the webhook's id. */
  secret: Buffer;
  /** The one of the version before, sealed too; signs beside the current one until then. */
  previousSecret: Buffer | null;
  previousSecretUntil: Date | null;
  /** Of the time before it became a v2 webhook; until then it signs what was first attempted in that time. */
  legacySecret: Buffer | null;
  legacySecretUntil: Date | null;
  createdAt: Date;
};

export async function insertWebhook(workspaceId: string, record: WebhookRecord): Promise<void> {
  await query('INSERT INTO webhooks SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      ...toColumns(record),
      created_at: record.createdAt,
      updated_at: record.createdAt,
    },
  ]);
}

/** Newest first, all of them: there are at most 100. */
export async function listWebhooks(workspaceId: string): Promise<WebhookRecord[]> {
  const rows = await execute('SELECT * FROM webhooks WHERE workspace_id = ? ORDER BY id DESC', [
    idToBytes(workspaceId),
  ]);
  return rows.map(toRecord);
}

export async function findWebhook(workspaceId: string, webhookId: string): Promise<WebhookRecord | null> {
  const [row] = await execute('SELECT * FROM webhooks WHERE workspace_id = ? AND id = ?', [
    idToBytes(workspaceId),
    idToBytes(webhookId),
  ]);
  return row ? toRecord(row) : null;
}

/** Locked until the transaction ends: what follows from the record is true when it is written. */
export async function findWebhookForUpdate(
  workspaceId: string,
  webhookId: string,
): Promise<WebhookRecord | null> {
  const [row] = await execute(`SELECT * FROM webhooks ${byId} WHERE workspace_id = ? AND id = ? FOR UPDATE`, [
    idToBytes(workspaceId),
    idToBytes(webhookId),
  ]);
  return row ? toRecord(row) : null;
}

/** Writes all of the record; it must have been read by `findWebhookForUpdate` in this transaction. */
export async function updateWebhook(workspaceId: string, record: WebhookRecord, at: Date): Promise<void> {
  await query(`UPDATE webhooks ${byId} SET ? WHERE workspace_id = ? AND id = ?`, [
    { ...toColumns(record), updated_at: at },
    idToBytes(workspaceId),
    idToBytes(record.id),
  ]);
}

export async function deleteWebhook(workspaceId: string, webhookId: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>('DELETE FROM webhooks WHERE workspace_id = ? AND id = ?', [
    idToBytes(workspaceId),
    idToBytes(webhookId),
  ]);
  return affectedRows === 1;
}

export type Settlement = {
  webhookId: string;
  /** `skip` what is pending, or `recover` what failed or was skipped since a time. */
  kind: 'skip' | 'recover';
  since: Date | null;
  createdAt: Date;
};

/** Asks for something to be done to many deliveries, a batch at a time; asked for again, it begins anew. */
export async function insertSettlement(workspaceId: string, settlement: Settlement): Promise<void> {
  const { webhookId, kind, since, createdAt } = settlement;
  await execute(
    `INSERT INTO webhook_settlements (webhook_id, kind, workspace_id, since, created_at) VALUES (?, ?, ?, ?, ?)
     ON DUPLICATE KEY UPDATE since = ?, created_at = ?`,
    [idToBytes(webhookId), kind, idToBytes(workspaceId), since, createdAt, since, createdAt],
  );
}

export async function deleteSettlement(
  workspaceId: string,
  webhookId: string,
  kind: Settlement['kind'],
): Promise<void> {
  await execute('DELETE FROM webhook_settlements WHERE webhook_id = ? AND kind = ? AND workspace_id = ?', [
    idToBytes(webhookId),
    kind,
    idToBytes(workspaceId),
  ]);
}

function toColumns(record: WebhookRecord): Record<string, unknown> {
  return {
    url: record.url,
    description: record.description,
    events: JSON.stringify(record.events),
    api_version: record.apiVersion,
    active: record.active,
    auto_disabled: record.autoDisabled,
    disabled_at: record.disabledAt,
    auto_disable_exempt: record.autoDisableExempt,
    auto_disable_after_minutes: record.autoDisableAfterMinutes,
    at_risk_alert_percent: record.atRiskAlertPercent,
    at_risk_warned_at: record.atRiskWarnedAt,
    failing_since: record.failingSince,
    last_failed_at: record.lastFailedAt,
    consecutive_failures: record.consecutiveFailures,
    recovered_at: record.recoveredAt,
    paused_until: record.pausedUntil,
    busy_count: record.busyCount,
    inbound_number: record.inboundNumber === null ? null : Buffer.from(record.inboundNumber),
    secret_version: record.secretVersion,
    secret: record.secret,
    previous_secret: record.previousSecret,
    previous_secret_until: record.previousSecretUntil,
    legacy_secret: record.legacySecret,
    legacy_secret_until: record.legacySecretUntil,
  };
}

export function toRecord(row: Row): WebhookRecord {
  return {
    id: idFromBytes('webhook', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    url: row.url,
    description: row.description,
    events: JSON.parse(row.events),
    apiVersion: row.api_version,
    active: row.active === 1,
    autoDisabled: row.auto_disabled === 1,
    disabledAt: row.disabled_at,
    autoDisableExempt: row.auto_disable_exempt === 1,
    autoDisableAfterMinutes: row.auto_disable_after_minutes,
    atRiskAlertPercent: row.at_risk_alert_percent,
    atRiskWarnedAt: row.at_risk_warned_at,
    failingSince: row.failing_since,
    lastFailedAt: row.last_failed_at,
    consecutiveFailures: row.consecutive_failures,
    recoveredAt: row.recovered_at,
    pausedUntil: row.paused_until,
    busyCount: row.busy_count,
    inboundNumber: row.inbound_number?.toString() ?? null,
    secretVersion: row.secret_version,
    secret: row.secret,
    previousSecret: row.previous_secret,
    previousSecretUntil: row.previous_secret_until,
    legacySecret: row.legacy_secret,
    legacySecretUntil: row.legacy_secret_until,
    createdAt: row.created_at,
  };
}
