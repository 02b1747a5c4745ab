import { batcher } from '../../../batcher.ts';
import { idFromBytes, idToBytes, newUuid } from '../../../formats/ids.ts';
import { byId, type Changed, outsideTransaction, query, type Row } from '../../client.ts';
import { type Pacing, toPacing } from './pacing.ts';

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
};
type Claim = { deliveryId: string; at: Date; until: Date };

/** Takes a delivery for this worker until the lease ends; null when it is not due or somebody else has it. */
export function claimDelivery(claim: Claim): Promise<ClaimedDelivery | null> {
  return outsideTransaction(() => claims(claim));
}

// What keeps a webhook from being sent anything leaves the version open: there is no attempt yet.
const versionNow = `SELECT COALESCE(w.api_version, 'legacy') FROM webhooks w
  WHERE w.id = webhook_deliveries.webhook_id AND w.active = 1 AND (w.paused_until IS NULL OR w.paused_until <= ?)`;

const claims = batcher<Claim, ClaimedDelivery | null>({
  maxItems: 100,
  maxInFlight: 4,
  run: async (items) => {
    const ids = items.map((item) => idToBytes(item.deliveryId));
    const { at, until } = items.at(-1)!;
    const token = newUuid(at);
    const { affectedRows } = await query<Changed>(
      `UPDATE webhook_deliveries ${byId}
       SET lost_claims = lost_claims + (lease_token IS NOT NULL), lease_token = ?, due_at = ?, parked = 0,
         claims = claims + 1, body_version = COALESCE(body_version, (${versionNow}))
       WHERE id IN (?) AND status = 'pending' AND due_at <= ?`,
      [token, until, at, ids, at],
    );
    if (affectedRows === 0) return items.map(() => null);
    const rows = await query(
      `SELECT d.id, d.attempts, d.claims, d.lost_claims, d.schedule_step, d.created_at, d.body_version, d.event_id,
        d.workspace_id, e.type, e.occurred_at, e.data,
        w.id AS webhook_id, w.url, w.api_version, w.active, w.auto_disabled, w.paused_until, w.failing_since,
        w.consecutive_failures, w.last_failed_at, w.recovered_at, w.secret_version, w.secret, w.previous_secret,
        w.previous_secret_until
       FROM webhook_deliveries d JOIN events e ON e.id = d.event_id LEFT JOIN webhooks w ON w.id = d.webhook_id
       WHERE d.id IN (?) AND d.lease_token = ?`,
      [ids, token],
    );
    const claimed = new Map(rows.map((row) => [idFromBytes('delivery', row.id), toClaimed(row, token)]));
    return items.map((item) => {
      const delivery = claimed.get(item.deliveryId) ?? null;
      // Two jobs for the same delivery in one batch: only the first may go on.
      claimed.delete(item.deliveryId);
      return delivery;
    });
  },
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
    },
  };
}
