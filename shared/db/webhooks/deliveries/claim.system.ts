import { idFromBytes } from '../../../formats/ids.ts';
import type { Row } from '../../client.ts';
import { claimer } from '../../work/claim.system.ts';
import { type Pacing, toPacing } from './pacing.system.ts';
import { deliveryTable } from './table.system.ts';

export type ClaimedDelivery = {
  id: string;
  token: Buffer;
  attempts: number;
  claims: number;
  /** How many workers before this one never said what became of it. */
  lostClaims: number;
  scheduleStep: number;
  createdAt: Date;
  /** Which body its first attempt sent: a version of the API or `legacy`. Null when there was none yet. */
  bodyVersion: string | null;
  event: { id: string; workspaceId: string; type: string; occurredAt: Date; data: string };
  /** Null when the webhook has been deleted. */
  webhook: ClaimedWebhook | null;
};
export type ClaimedWebhook = Pacing & {
  id: string;
  url: string;
  apiVersion: string | null;
  secretVersion: number;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousSecretUntil: Date | null;
  legacySecret: Buffer | null;
  legacySecretUntil: Date | null;
  busyCount: number;
};
// A fault that keeps a webhook from being sent anything leaves the version open: there is no attempt yet.
const versionNow = `SELECT COALESCE(w.api_version, 'legacy') FROM webhooks w
  WHERE w.id = webhook_deliveries.webhook_id AND w.active = 1 AND (w.paused_until IS NULL OR w.paused_until <= ?)`;

/** Takes a delivery for this worker until the lease ends; null when it is not due or somebody else has it. */
export const claimDelivery = claimer<ClaimedDelivery>(deliveryTable, {
  set: `lost_claims = lost_claims + (lease_token IS NOT NULL),
    body_version = COALESCE(body_version, (${versionNow}))`,
  select: `SELECT webhook_deliveries.id, attempts, claims, lost_claims, schedule_step, webhook_deliveries.created_at,
      body_version, event_id, webhook_deliveries.workspace_id, e.type, e.occurred_at, e.data,
      w.id AS webhook_id, w.url, w.api_version, w.active, w.auto_disabled, w.paused_until, w.failing_since,
      w.consecutive_failures, w.last_failed_at, w.recovered_at, w.secret_version, w.secret, w.previous_secret,
      w.previous_secret_until, w.legacy_secret, w.legacy_secret_until, w.busy_count
    FROM webhook_deliveries JOIN events e ON e.id = webhook_deliveries.event_id
    LEFT JOIN webhooks w ON w.id = webhook_deliveries.webhook_id`,
  toClaimed,
  batches: { maxItems: 100, maxInFlight: 4 },
});

function toClaimed(row: Row, token: Buffer): ClaimedDelivery {
  return {
    id: idFromBytes('delivery', row.id),
    token,
    attempts: row.attempts,
    claims: row.claims,
    lostClaims: row.lost_claims,
    scheduleStep: row.schedule_step,
    createdAt: row.created_at,
    bodyVersion: row.body_version,
    event: {
      id: idFromBytes('event', row.event_id),
      workspaceId: idFromBytes('workspace', row.workspace_id),
      type: row.type,
      occurredAt: row.occurred_at,
      data: row.data,
    },
    webhook: row.webhook_id && {
      id: idFromBytes('webhook', row.webhook_id),
      url: row.url,
      apiVersion: row.api_version,
      ...toPacing(row),
      secretVersion: row.secret_version,
      secret: row.secret,
      previousSecret: row.previous_secret,
      previousSecretUntil: row.previous_secret_until,
      legacySecret: row.legacy_secret,
      legacySecretUntil: row.legacy_secret_until,
      busyCount: row.busy_count,
    },
  };
}
