import { now } from '../../common/clock.ts';
import { type FieldErrors, orNotFound, problem } from '../../common/errors.ts';
import { isUnusable, throwAny, type Usable } from '../../common/faults.ts';
import { updateWebhookResumed } from '../../db/webhooks/settlements.ts';
import * as db from '../../db/webhooks/webhooks.ts';
import { findWorkspace, findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { oneOf } from '../../formats/edit-distance.ts';
import { eventTypes } from '../../schemas/events.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { legacyEvents, type Webhook, type WebhookChanges } from '../../schemas/webhooks/webhooks.ts';
import { isSame, refuseSecond } from './duplicates.ts';
import { faultsOf, neverFailed, settingsOf, toWire } from './record.ts';
import { overlapMs, withNewSecret } from './rotate-secret.ts';

/** A field that is left out stays; null puts a setting back to its default (API decisions §4). */
export async function change(caller: Caller, webhookId: string, changes: WebhookChanges): Promise<Webhook> {
  const { workspaceId } = caller;
  const { url, events, inboundNumber } = changes;
  // Lock the workspace before the webhook: `create` takes its locks in the same order.
  if (url !== undefined || events || inboundNumber !== undefined) await findWorkspaceForUpdate(workspaceId);
  const webhook = orNotFound(await db.findWebhookForUpdate(workspaceId, webhookId));
  // Converting a legacy webhook to v2 needs the same permission as creating one.
  const converts = isConversion(webhook, changes);
  if (converts && !(await findWorkspace(workspaceId))?.webhooksEnabled) throw problem('webhooks_not_enabled');
  const errors = faultsOfMerged(webhook, changes);
  throwAny(errors);
  const merged = merge(webhook, changes);
  // Duplicates from before this rule can still be switched off or described.
  if (!isSame(webhook, merged)) await refuseSecond(workspaceId, merged);

  const time = now();
  // A 429 to an attempt that is still open comes from the old URL.
  if (merged.url !== webhook.url) merged.pauseEndedAt = time;
  const started = changes.active ? startedAfresh(webhook, merged, time) : merged;
  const { record, secret } = converts ? converted(started, time) : { record: started, secret: null };
  if (changes.active) await updateWebhookResumed(workspaceId, webhook, time);
  await db.updateWebhook(workspaceId, record, time);
  if (changes.active) await db.deleteSettlement(workspaceId, webhookId, 'skip');
  return toWire(record, secret);
}

/**
 * Converts a legacy webhook to v2. Deliveries that were first attempted with the old secret keep it. No v2 signature is
 * made with it, because no receiver would check that.
 */
function converted(webhook: db.WebhookRecord, at: Date): ReturnType<typeof withNewSecret> {
  const { record, secret } = withNewSecret(webhook);
  const legacySecretUntil = new Date(at.getTime() + overlapMs);
  return { record: { ...record, legacySecret: webhook.secret, legacySecretUntil }, secret };
}

function isConversion(webhook: db.WebhookRecord, { apiVersion }: Usable<WebhookChanges>): boolean {
  return webhook.apiVersion === null && apiVersion !== undefined;
}

function merge(webhook: db.WebhookRecord, changes: Usable<WebhookChanges>): db.WebhookRecord {
  return {
    ...webhook,
    ...settingsOf(changes, webhook),
    url: changes.url ?? webhook.url,
    events: changes.events
      ? [...new Set(changes.events.filter((name) => name !== undefined))]
      : webhook.events,
    apiVersion: changes.apiVersion ?? webhook.apiVersion,
    active: changes.active ?? webhook.active,
  };
}

/** Returns the faults for which `change` would refuse a request. Skips fields of the wrong shape. */
export async function faultsOfChange(
  { workspaceId }: Caller,
  webhookId: string,
  changes: Usable<WebhookChanges>,
): Promise<FieldErrors> {
  const webhook = await db.findWebhook(workspaceId, webhookId);
  if (!webhook) return {};
  return faultsOfMerged(webhook, changes);
}

/** Checks the webhook as it would be stored, and names each fault after a field that was sent. */
function faultsOfMerged(webhook: db.WebhookRecord, changes: Usable<WebhookChanges>): FieldErrors {
  const merged = merge(webhook, changes);
  const errors = faultsOf(merged);
  // A URL that was allowed when it was stored must not keep anybody from switching the webhook off.
  if (changes.url === undefined) delete errors.url;
  if (errors.inboundNumber && changes.inboundNumber == null) {
    errors.events = [`${errors.inboundNumber[0]}; set inboundNumber to null to subscribe to other events`];
    delete errors.inboundNumber;
  }
  if (isConversion(webhook, changes) && !changes.events)
    errors.events = ['is required with apiVersion: give v2 types such as sms.delivered'];
  // The allowed event names depend on the version, so without a usable version they cannot be checked.
  else if (!isUnusable(changes, 'apiVersion'))
    Object.assign(errors, eventFaults(merged.apiVersion, changes.events ?? []));
  return errors;
}

function eventFaults(apiVersion: string | null, names: readonly (string | undefined)[]): FieldErrors {
  const isLegacyName = (name: string) => (legacyEvents as readonly string[]).includes(name);
  const faults = [...names.entries()].filter(
    ([, name]) => name !== undefined && isLegacyName(name) !== (apiVersion === null),
  );
  const messageFor = (name: string | undefined) =>
    apiVersion === null
      ? `must be ${legacyEvents.join(' or ')}, because this is a legacy webhook; to convert it, set apiVersion too`
      : `must be ${oneOf(eventTypes, name)}`;
  return Object.fromEntries(faults.map(([index, name]) => [`events[${index}]`, [messageFor(name)]]));
}

/** Resets a webhook as if it had never failed; deliveries that have waited are released slowly (API decisions §6). */
function startedAfresh(before: db.WebhookRecord, merged: db.WebhookRecord, at: Date): db.WebhookRecord {
  const hasBacklog =
    !before.active ||
    before.failingSince !== null ||
    (before.pausedUntil !== null && before.pausedUntil > at);
  return {
    ...merged,
    ...neverFailed,
    recoveredAt: hasBacklog ? at : before.recoveredAt,
    // A pause that ends now makes the start slow, and no failure changes that.
    pausedUntil: hasBacklog ? at : before.pausedUntil,
    pauseEndedAt: at,
  };
}
