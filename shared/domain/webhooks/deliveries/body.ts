import type { ClaimedDelivery, ClaimedWebhook } from '../../../db/webhooks/deliveries/deliveries.system.ts';
import * as events from '../../events/events.ts';
import * as legacyWebhooks from '../legacy.ts';

const legacy = 'legacy';
/** No v2 secret has this version, since the conversion already gives a higher one. */
const legacyVersion = 0;

/**
 * Returns the webhook in the version that this delivery uses. A delivery first attempted before its webhook was
 * converted to v2 keeps the legacy body, headers and secret until the old secret expires; then it becomes a v2
 * delivery (API decisions §6).
 */
export function madeFor({ bodyVersion }: ClaimedDelivery, webhook: ClaimedWebhook, at: Date): ClaimedWebhook {
  const { apiVersion, legacySecret, legacySecretUntil } = webhook;
  if (bodyVersion !== legacy || apiVersion === null) return webhook;
  if (!legacySecret || !legacySecretUntil || legacySecretUntil <= at) return webhook;
  return { ...webhook, apiVersion: null, secret: legacySecret, secretVersion: legacyVersion };
}

/**
 * Returns the body of a delivery: the same bytes in every attempt, even if its webhook asks for another version by
 * then; only the end of a legacy secret changes them. The webhook must be the one that `madeFor` returns.
 */
export function bodyOf({ event, bodyVersion }: ClaimedDelivery, { apiVersion }: ClaimedWebhook): Buffer {
  if (apiVersion === null) return Buffer.from(legacyWebhooks.bodyOf(event));
  const version = bodyVersion === null || bodyVersion === legacy ? apiVersion : bodyVersion;
  return Buffer.from(events.envelope(event, version));
}
