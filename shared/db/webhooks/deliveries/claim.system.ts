import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import type { RecordOf, RowOf } from '../../client/table.ts';
import { byId, query } from '../../client.ts';
import { events } from '../../events/events.ts';
import { claimer } from '../../work/claim.system.ts';
import { webhooks } from '../webhooks.ts';
import { deliveries } from './deliveries.ts';
import { deliveryTable } from './table.system.ts';

const claimed = deliveries.pick(
  'id',
  'attempts',
  'claims',
  'lostClaims',
  'scheduleStep',
  'restartedAt',
  'bodyVersion',
);
const claimedEvents = events.pick('type', 'occurredAt', 'data');
const claimedWebhooks = webhooks.pick(
  'url',
  'apiVersion',
  'active',
  'autoDisabled',
  'pausedUntil',
  'pauseEndedAt',
  'failingSince',
  'consecutiveFailures',
  'secretVersion',
  'secret',
  'previousSecret',
  'previousSecretUntil',
  'legacySecret',
  'legacySecretUntil',
  'busyCount',
);

export type ClaimedDelivery = RecordOf<typeof claimed> & {
  token: Buffer;
  event: RecordOf<typeof claimedEvents> & { id: string; workspaceId: string };
  /** Null when the webhook has been deleted. */
  webhook: ClaimedWebhook | null;
};
export type ClaimedWebhook = RecordOf<typeof claimedWebhooks> & { id: string };
type ClaimedDeliveryRow = RowOf<typeof claimed> &
  RowOf<typeof claimedEvents> & { event_id: Buffer; workspace_id: Buffer } & (
    | (RowOf<typeof claimedWebhooks> & { webhook_id: Buffer })
    | { webhook_id: null }
  );

// While a webhook is inactive or paused, the version stays open: nothing is sent, so there is no attempt yet.
const versionNow = `SELECT COALESCE(w.api_version, 'legacy') FROM webhooks w
  WHERE w.id = webhook_deliveries.webhook_id AND w.active = 1 AND (w.paused_until IS NULL OR w.paused_until <= ?)`;

/** Claims a delivery for this worker until the lease ends; null when it is not due or another worker has it. */
export const claimDelivery = claimer<ClaimedDelivery, ClaimedDeliveryRow>(deliveryTable, {
  set: `lost_claims = lost_claims + (lease_token IS NOT NULL),
    body_version = COALESCE(body_version, (${versionNow}))`,
  select: `SELECT ${claimed.columnsOf('webhook_deliveries')},
      event_id, webhook_deliveries.workspace_id, ${claimedEvents.columnsOf('e')},
      w.id AS webhook_id, ${claimedWebhooks.columnsOf('w')}
    FROM webhook_deliveries JOIN events e ON e.id = webhook_deliveries.event_id
    LEFT JOIN webhooks w ON w.id = webhook_deliveries.webhook_id`,
  toClaimed,
  batches: { maxItems: 100, maxInFlight: 4 },
});

/** Returns the deliveries among these that are tests. */
export async function listTests(deliveryIds: string[]): Promise<string[]> {
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM webhook_deliveries ${byId} WHERE id IN (?) AND event_type = 'webhook.test'`,
    [deliveryIds.map(idToBytes)],
  );
  return rows.map((row) => idFromBytes('delivery', row.id));
}

function toClaimed(row: ClaimedDeliveryRow, token: Buffer): ClaimedDelivery {
  return {
    ...claimed.toRecord(row),
    token,
    event: {
      id: idFromBytes('event', row.event_id),
      workspaceId: idFromBytes('workspace', row.workspace_id),
      ...claimedEvents.toRecord(row),
    },
    webhook: row.webhook_id && {
      ...claimedWebhooks.toRecord(row),
      id: idFromBytes('webhook', row.webhook_id),
    },
  };
}
