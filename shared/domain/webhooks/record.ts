import { randomBytes } from 'node:crypto';
import { now } from '../../common/clock.ts';
import type { FieldErrors } from '../../common/errors.ts';
import type { Usable } from '../../common/faults.ts';
import { isKnownVersion, knownVersions } from '../../common/versions.ts';
import { config } from '../../config/config.ts';
import type { WebhookRecord } from '../../db/webhooks/webhooks.ts';
import { oneOf } from '../../formats/edit-distance.ts';
import { parseNetworks, webhookUrlProblem } from '../../formats/network-address.ts';
import { Webhook } from '../../schemas/webhooks/webhooks.ts';
import { wireOf } from '../requests/wire.ts';
import { defaultAtRiskAlertPercent } from './health/outage.ts';
import { subscribedTypes } from './legacy.ts';

/** The rules that all operations on webhooks share. */

const allowedNetworks = parseNetworks(config.WEBHOOK_ALLOWED_NETWORKS);

/** `whsec_` and 32 random bytes; the whole string is the HMAC key (API decisions §6). */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

const defaults = {
  description: null,
  inboundNumber: null,
  autoDisableExempt: false,
  autoDisableAfterMinutes: null,
  atRiskAlertPercent: null,
} satisfies Partial<WebhookRecord>;
/** The settings of a webhook that a customer may choose beside its URL, events and version. */
export type WebhookSettings = Pick<WebhookRecord, keyof typeof defaults>;
type GivenSettings = { [Name in keyof WebhookSettings]?: WebhookSettings[Name] | null | undefined };

/** A field that is left out stays as it was; null puts a setting back to its default (API decisions §4). */
export function settingsOf(given: GivenSettings, before: WebhookSettings = defaults): WebhookSettings {
  const names = Object.keys(defaults) as (keyof WebhookSettings)[];
  const valueOf = (name: keyof WebhookSettings) =>
    given[name] === undefined ? before[name] : (given[name] ?? defaults[name]);
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as WebhookSettings;
}

/** The health of a webhook whose attempts have never failed. */
export const neverFailed = {
  autoDisabled: false,
  disabledAt: null,
  atRiskWarnedAt: null,
  failingSince: null,
  lastFailedAt: null,
  consecutiveFailures: 0,
  busyCount: 0,
} satisfies Partial<WebhookRecord>;

/** Returns a webhook as callers see it. Only the answer to the request that issued a secret passes `secret`. */
export function toWire(webhook: WebhookRecord, secret: string | null = null): Webhook {
  const { autoDisableAfterMinutes, atRiskAlertPercent, pausedUntil } = webhook;
  return wireOf(Webhook, {
    ...webhook,
    autoDisableAfterMinutes: autoDisableAfterMinutes ?? config.WEBHOOK_AUTO_DISABLE_MINUTES,
    atRiskAlertPercent: atRiskAlertPercent ?? defaultAtRiskAlertPercent,
    pausedUntil: pausedUntil && pausedUntil > now() ? pausedUntil : null,
    secret,
  });
}

/** Returns the faults of a webhook to be stored that a schema cannot find. Skips fields of the wrong shape. */
export function faultsOf({
  url,
  apiVersion,
  inboundNumber,
  events = [],
}: Usable<CheckedWebhookFields>): FieldErrors {
  const errors: FieldErrors = {};
  const urlFault = url === undefined ? null : webhookUrlProblem(url, allowedNetworks);
  if (urlFault) errors.url = [urlFault];
  if (apiVersion != null && !isKnownVersion(apiVersion))
    errors.apiVersion = [`must be ${oneOf(knownVersions, apiVersion)}`];
  const named = events.filter((event) => event !== undefined);
  const types = [...subscribedTypes({ apiVersion: apiVersion ?? null, events: named })];
  if (inboundNumber != null && types.some((type) => type !== 'sms.received')) {
    const only = apiVersion === null ? 'inbound' : 'sms.received';
    errors.inboundNumber = [`is allowed only with events ["${only}"]`];
  }
  return errors;
}

type CheckedWebhookFields = Pick<WebhookRecord, 'url' | 'events' | 'apiVersion' | 'inboundNumber'>;
