import { randomBytes } from 'node:crypto';
import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import type { WebhookRecord } from '../../db/webhooks.ts';
import type { FieldErrors } from '../../errors.ts';
import { parseNetworks, webhookUrlProblem } from '../../formats/network-address.ts';
import type { Webhook } from '../../schemas/webhooks.ts';
import { isKnownVersion } from '../../versions.ts';
import { subscribedTypes } from '../legacy-webhooks.ts';
import { defaultAtRiskAlertPercent } from '../webhook-health/outage.ts';

const allowedNetworks = parseNetworks(config.WEBHOOK_ALLOWED_NETWORKS);

/** `whsec_` and 32 random bytes; the whole string is the HMAC key (contract §6). */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

/** `secret` is given only to the request that issued it. */
export function toWire(webhook: WebhookRecord, secret: string | null = null): Webhook {
  return {
    id: webhook.id,
    url: webhook.url,
    description: webhook.description,
    events: webhook.events,
    apiVersion: webhook.apiVersion,
    active: webhook.active,
    autoDisabled: webhook.autoDisabled,
    autoDisableExempt: webhook.autoDisableExempt,
    autoDisableAfterMinutes: webhook.autoDisableAfterMinutes ?? config.WEBHOOK_AUTO_DISABLE_MINUTES,
    atRiskAlertPercent: webhook.atRiskAlertPercent ?? defaultAtRiskAlertPercent,
    pausedUntil:
      webhook.pausedUntil && webhook.pausedUntil > now() ? webhook.pausedUntil.toISOString() : null,
    failingSince: webhook.failingSince?.toISOString() ?? null,
    consecutiveFailures: webhook.consecutiveFailures,
    inboundNumber: webhook.inboundNumber,
    secretVersion: webhook.secretVersion,
    secret,
    createdAt: webhook.createdAt.toISOString(),
  };
}

/** What a schema cannot tell about a webhook as it would be stored. */
export function faultsOf(
  webhook: Pick<WebhookRecord, 'url' | 'events' | 'apiVersion' | 'inboundNumber'>,
): FieldErrors {
  const errors: FieldErrors = {};
  const urlFault = webhookUrlProblem(webhook.url, allowedNetworks);
  if (urlFault) errors.url = [urlFault];
  if (webhook.apiVersion !== null && !isKnownVersion(webhook.apiVersion))
    errors.apiVersion = ['is not a version of this API'];
  const types = [...subscribedTypes(webhook)];
  if (webhook.inboundNumber !== null && types.some((type) => type !== 'sms.received')) {
    const only = webhook.apiVersion === null ? 'inbound' : 'sms.received';
    errors.inboundNumber = [`goes with events ["${only}"] only`];
  }
  return errors;
}
