import type { ClaimedDelivery, ClaimedWebhook } from '../../db/system/webhook-deliveries.ts';
import * as events from '../events.ts';
import * as legacyWebhooks from '../legacy-webhooks.ts';

const legacy = 'legacy';

/** What a delivery says: the same bytes in every attempt, whatever version its webhook asks for by then. */
export function bodyOf({ event, bodyVersion }: ClaimedDelivery, webhook: ClaimedWebhook): Buffer {
  const version = bodyVersion ?? webhook.apiVersion ?? legacy;
  return Buffer.from(version === legacy ? legacyWebhooks.bodyOf(event) : events.envelope(event, version));
}
