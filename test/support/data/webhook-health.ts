import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as health from '../../../shared/domain/webhooks/health/health.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { systemWorkspaceId } from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { NewWebhook } from '../../../shared/schemas/webhooks/webhooks.ts';
import { newUrl } from '../servers/webhook-url.ts';
import { callerOf } from './accepted-email.ts';
import type { workspace } from './factory.ts';

type Workspace = Awaited<ReturnType<typeof workspace>>;

export const minuteMs = 60_000;
export const later = (time: Date, ms: number) => new Date(time.getTime() + ms);

/** Gives the workspace an address for warnings that no other test reads, and returns it. */
export async function alertAddress({ workspaceId }: Workspace): Promise<string> {
  const address = `alerts-${workspaceId.slice(-10)}@example.com`;
  await query('UPDATE workspaces SET alert_email = ? WHERE id = ?', [address, idToBytes(workspaceId)]);
  return address;
}

/**
 * Makes a webhook whose attempts the test makes up. `fails` and `succeeds` record an attempt that ended now, or at a
 * given time.
 */
export async function watchedWebhook(
  from: Workspace,
  settings: Record<string, unknown> = {},
  url = newUrl('https://hooks.example.com'),
) {
  const request = NewWebhook.parse({ url, events: ['email.queued'], ...settings });
  const { id } = await transaction(() => webhooks.create(callerOf(from), request));
  const end = (isSuccess: boolean) => (endedAt: Date) => ({
    webhookId: id,
    workspaceId: from.workspaceId,
    host: new URL(url).host,
    isSuccess,
    endedAt,
  });
  return {
    id,
    failure: end(false),
    success: end(true),
    fails: (at = now()) => health.note([end(false)(at)]),
    succeeds: (at = now()) => health.note([end(true)(at)]),
    read: () => healthOf(id),
    /** Stores a delivery of this webhook with these columns. */
    addDelivery: (columns: Record<string, unknown>) => insertDelivery(from, id, columns),
  };
}
export type Watched = Awaited<ReturnType<typeof watchedWebhook>>;

/** The stored health of a webhook. */
async function healthOf(webhookId: string) {
  const [row] = await query('SELECT * FROM webhooks WHERE id = ?', [idToBytes(webhookId)]);
  return {
    active: row!['active'] === 1,
    autoDisabled: row!['auto_disabled'] === 1,
    disabledAt: row!['disabled_at'] as Date | null,
    failingSince: row!['failing_since'] as Date | null,
    lastFailedAt: row!['last_failed_at'] as Date | null,
    consecutiveFailures: row!['consecutive_failures'] as number,
    recoveredAt: row!['recovered_at'] as Date | null,
    warnedAt: row!['at_risk_warned_at'] as Date | null,
  };
}

export async function changeWebhook(webhookId: string, columns: Record<string, unknown>): Promise<void> {
  await query('UPDATE webhooks SET ? WHERE id = ?', [columns, idToBytes(webhookId)]);
}

async function insertDelivery(
  { workspaceId }: Workspace,
  webhookId: string,
  columns: Record<string, unknown>,
): Promise<Buffer> {
  const id = idToBytes(newId('delivery', now()));
  await query('INSERT INTO webhook_deliveries SET ?', [
    {
      id,
      workspace_id: idToBytes(workspaceId),
      webhook_id: idToBytes(webhookId),
      event_id: idToBytes(newId('event', now())),
      event_type: 'email.queued',
      status: 'pending',
      created_at: now(),
      ...columns,
    },
  ]);
  return id;
}

/** Returns the kinds of the settlements that wait for a webhook. */
export async function settlementsOf(webhookId: string): Promise<string[]> {
  const rows = await query('SELECT kind FROM webhook_settlements WHERE webhook_id = ?', [
    idToBytes(webhookId),
  ]);
  return rows.map((row) => row['kind'] as string);
}

/** Returns the platform's own mails to this address, oldest first. */
export async function systemMailsTo(address: string) {
  const rows = await query(
    `SELECT e.id, e.subject, e.status, b.text FROM emails e LEFT JOIN email_bodies b ON b.email_id = e.id
     WHERE e.workspace_id = ? AND e.recipient = ? ORDER BY e.id`,
    [idToBytes(systemWorkspaceId), address],
  );
  return rows.map((row) => ({
    subject: row['subject'] as string,
    status: row['status'] as string,
    text: row['text'] as string | null,
  }));
}
