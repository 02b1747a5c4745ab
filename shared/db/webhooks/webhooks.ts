import { idToBytes } from '../../formats/ids.ts';
import { binaryText, boolean, bytes, id, int, json, text, time } from '../client/columns.ts';
import { insertRow, listRows, rowsOf, updateRow } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { execute } from '../client.ts';

/** The webhooks of a workspace, for requests that read or change them. */

export const webhooks = table('webhooks', {
  id: id('webhook'),
  workspaceId: id('workspace'),
  url: text(),
  description: text().nullable(),
  events: json<string[]>(),
  /** Null: a legacy webhook. */
  apiVersion: text().nullable(),
  /** False while the customer pauses it and after the service switched it off. */
  active: boolean(),
  autoDisabled: boolean(),
  disabledAt: time().nullable(),
  autoDisableExempt: boolean(),
  /** Null: the service's default. */
  autoDisableAfterMinutes: int().nullable(),
  /** Null: the service's default. */
  atRiskAlertPercent: int().nullable(),
  atRiskWarnedAt: time().nullable(),
  failingSince: time().nullable(),
  lastFailedAt: time().nullable(),
  consecutiveFailures: int(),
  /** The end of the last outage, or when somebody last switched the webhook on. Failures before that do not count. */
  recoveredAt: time().nullable(),
  /**
   * Nothing is sent until then, because the endpoint answered with a 429. After that the backlog is released gradually.
   * The end of an outage and a switch-on by the customer are stored here too.
   */
  pausedUntil: time().nullable(),
  /**
   * When somebody last ended the pause or changed the URL: a 429 to an attempt that began before that pauses nothing.
   * Null: never. The previous version does not set it.
   */
  pauseEndedAt: time().nullable(),
  /** How often in a row the endpoint has asked us to wait. */
  busyCount: int(),
  inboundNumber: binaryText().nullable(),
  secretVersion: int(),
  /** Sealed; opens with the webhook's id. */
  secret: bytes(),
  /** The previous secret, sealed too. Until `previousSecretUntil` it signs beside the current one. */
  previousSecret: bytes().nullable(),
  previousSecretUntil: time().nullable(),
  /**
   * The secret of the webhook when it was a legacy one. Until `legacySecretUntil` it signs deliveries that were first
   * attempted with it.
   */
  legacySecret: bytes().nullable(),
  legacySecretUntil: time().nullable(),
  createdAt: time(),
});
const changing = webhooks.omit('id', 'workspaceId', 'createdAt');
export type WebhookRecord = RecordOf<typeof webhooks>;

export const {
  find: findWebhook,
  /** Locked, so that a decision made from the record is still right when it is written. */
  findForUpdate: findWebhookForUpdate,
  delete: deleteWebhook,
} = rowsOf(webhooks);

export function insertWebhook(workspaceId: string, record: WebhookRecord): Promise<void> {
  return insertRow(workspaceId, webhooks, record, { updated_at: record.createdAt });
}

/** Newest first, all of them: there are at most 100. */
export function listWebhooks(workspaceId: string): Promise<WebhookRecord[]> {
  return listRows(workspaceId, webhooks, {}, 'id DESC');
}

/** Writes all of the record; it must have been read by `findWebhookForUpdate` in this transaction. */
export function updateWebhook(workspaceId: string, record: WebhookRecord, at: Date): Promise<void> {
  return updateRow(workspaceId, changing, record, { updated_at: at });
}

export const settlements = table('webhook_settlements', {
  webhookId: id('webhook'),
  workspaceId: id('workspace'),
  /** `skip`: skips pending deliveries. `recover`: sends those again that failed or were skipped since `since`. */
  kind: text<'skip' | 'recover'>(),
  since: time().nullable(),
  createdAt: time(),
});
export type Settlement = Omit<RecordOf<typeof settlements>, 'workspaceId'>;

/** Requests work on many deliveries of a webhook, done a batch at a time. A second request makes it begin anew. */
export async function insertSettlement(workspaceId: string, settlement: Settlement): Promise<void> {
  await execute(
    `INSERT INTO ${settlements.into} VALUES ${settlements.marks}
     ON DUPLICATE KEY UPDATE since = VALUES(since), created_at = VALUES(created_at)`,
    settlements.toValues({ ...settlement, workspaceId }),
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
