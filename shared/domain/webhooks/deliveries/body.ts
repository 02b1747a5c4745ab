import type { ClaimedDelivery, ClaimedWebhook } from '../../../db/webhooks/deliveries/deliveries.system.ts';
import * as events from '../../events/events.ts';
import * as legacyWebhooks from '../legacy.ts';

const legacy = 'legacy';
/** No secret of v2 has it: they count on from that of the conversion. */
const legacyVersion = 0;

/**
 * The webhook as this delivery knows it. One that was first attempted before its webhook became one of v2 keeps the legacy
 * body, headers and secret until the old secret is over; then it is made anew (API decisions §6).
 */
export function madeFor({ bodyVersion }: ClaimedDelivery, webhook: ClaimedWebhook, at: Date): ClaimedWebhook {
  const { apiVersion, legacySecret, legacySecretUntil } = webhook;
  if (bodyVersion !== legacy || apiVersion === null) return webhook;
  if (!legacySecret || !legacySecretUntil || legacySecretUntil <= at) return webhook;
  return { ...webhook, apiVersion: null, secret: legacySecret, secretVersion: legacyVersion };
}

/**
 * The body of a delivery: the same bytes in every attempt, whatever version its webhook asks for by then. `webhook` is the one
 * of `madeFor`.
 */
export function bodyOf({ event, bodyVersion }: ClaimedDelivery, { apiVersion }: ClaimedWebhook): Buffer {
  if (apiVersion === null) return Buffer.from(legacyWebhooks.bodyOf(event));
  const version = bodyVersion === null || bodyVersion === legacy ? apiVersion : bodyVersion;
  return Buffer.from(events.envelope(event, version));
}
