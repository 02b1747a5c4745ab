import { idFromBytes, idToBytes } from '../formats/ids.ts';
import { type Changed, execute, query, type Row } from './client.ts';

export type WebhookRecord = {
  id: string;
  workspaceId: string;
  url: string;
  description: string | null;
  events: string[];
  apiVersion: string | null;
  active: boolean;
  autoDisabled: boolean;
  autoDisableExempt: boolean;
  /** Null: the service's default. */
  autoDisableAfterMinutes: number | null;
  /** Null: the service's default. */
  atRiskAlertPercent: number | null;
  failingSince: Date | null;
  consecutiveFailures: number;
  inboundNumber: string | null;
  secretVersion: number;
  /** Sealed; opens with the webhook's id. */
  secret: Buffer;
  createdAt: Date;
};

export async function insertWebhook(workspaceId: string, record: WebhookRecord): Promise<void> {
  await query('INSERT INTO webhooks SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      url: record.url,
      description: record.description,
      events: JSON.stringify(record.events),
      api_version: record.apiVersion,
      active: record.active,
      auto_disable_exempt: record.autoDisableExempt,
      auto_disable_after_minutes: record.autoDisableAfterMinutes,
      at_risk_alert_percent: record.atRiskAlertPercent,
      inbound_number: record.inboundNumber === null ? null : Buffer.from(record.inboundNumber),
      secret_version: record.secretVersion,
      secret: record.secret,
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

export async function deleteWebhook(workspaceId: string, webhookId: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>('DELETE FROM webhooks WHERE workspace_id = ? AND id = ?', [
    idToBytes(workspaceId),
    idToBytes(webhookId),
  ]);
  return affectedRows === 1;
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
    autoDisableExempt: row.auto_disable_exempt === 1,
    autoDisableAfterMinutes: row.auto_disable_after_minutes,
    atRiskAlertPercent: row.at_risk_alert_percent,
    failingSince: row.failing_since,
    consecutiveFailures: row.consecutive_failures,
    inboundNumber: row.inbound_number?.toString() ?? null,
    secretVersion: row.secret_version,
    secret: row.secret,
    createdAt: row.created_at,
  };
}
