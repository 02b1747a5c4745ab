import { randomBytes } from 'node:crypto';
import { now } from '../clock.ts';
import { config } from '../config.ts';
import * as db from '../db/webhooks.ts';
import { findWorkspaceForUpdate } from '../db/workspaces.ts';
import { type FieldErrors, problem } from '../errors.ts';
import { newId } from '../formats/ids.ts';
import { parseNetworks, webhookUrlProblem } from '../formats/network-address.ts';
import type { Caller } from '../schemas/scopes.ts';
import type { NewWebhook, Webhook } from '../schemas/webhooks.ts';
import { seal } from '../secrets.ts';
import { currentVersion, isKnownVersion } from '../versions.ts';

const maxWebhooks = 100;
const defaultAtRiskAlertPercent = 10;
const allowedNetworks = parseNetworks(config.WEBHOOK_ALLOWED_NETWORKS);

/** `whsec_` and 32 random bytes; the whole string is the HMAC key (contract §6). */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

/** `secret` is given only to the request that issued it. */
function toWire(webhook: db.WebhookRecord, secret: string | null = null): Webhook {
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
    failingSince: webhook.failingSince?.toISOString() ?? null,
    consecutiveFailures: webhook.consecutiveFailures,
    inboundNumber: webhook.inboundNumber,
    secretVersion: webhook.secretVersion,
    secret,
    createdAt: webhook.createdAt.toISOString(),
  };
}

export async function create(caller: Caller, request: NewWebhook): Promise<Webhook> {
  // Deliveries show recipients and content, so who may not see them may not have them delivered (contract §3).
  for (const scope of ['recipients.read', 'content.read'] as const)
    if (!caller.scopes.has(scope))
      throw problem('forbidden', { detail: `Webhooks show everything: this needs the scope ${scope} too` });
  // Locked, so that two requests at once cannot both be the hundredth.
  const workspace = await findWorkspaceForUpdate(caller.workspaceId);
  if (!workspace?.webhooksEnabled) throw problem('webhooks_not_enabled');
  checkNew(request);
  if ((await db.listWebhooks(caller.workspaceId)).length >= maxWebhooks)
    throw problem('limit_exceeded', { detail: `A workspace has at most ${maxWebhooks} webhooks` });

  const time = now();
  const id = newId('webhook', time);
  const secret = newSecret();
  const record: db.WebhookRecord = {
    id,
    workspaceId: caller.workspaceId,
    url: request.url,
    description: request.description ?? null,
    events: [...new Set(request.events)],
    apiVersion: request.apiVersion ?? currentVersion,
    active: true,
    autoDisabled: false,
    autoDisableExempt: request.autoDisableExempt ?? false,
    autoDisableAfterMinutes: request.autoDisableAfterMinutes ?? null,
    atRiskAlertPercent: request.atRiskAlertPercent ?? null,
    failingSince: null,
    consecutiveFailures: 0,
    inboundNumber: request.inboundNumber ?? null,
    secretVersion: 1,
    secret: seal(id, secret),
    createdAt: time,
  };
  await db.insertWebhook(caller.workspaceId, record);
  return toWire(record, secret);
}

function checkNew(request: NewWebhook): void {
  const errors: FieldErrors = {};
  const urlFault = webhookUrlProblem(request.url, allowedNetworks);
  if (urlFault) errors.url = [urlFault];
  if (request.apiVersion != null && !isKnownVersion(request.apiVersion))
    errors.apiVersion = ['is not a version of this API'];
  if (request.inboundNumber != null && request.events.some((type) => type !== 'sms.received'))
    errors.inboundNumber = ['goes with events ["sms.received"] only'];
  if (Object.keys(errors).length > 0)
    throw problem('validation_failed', { detail: 'The webhook is not valid', errors });
}

export async function find(caller: Caller, webhookId: string): Promise<Webhook> {
  const record = await db.findWebhook(caller.workspaceId, webhookId);
  if (!record) throw problem('not_found');
  return toWire(record);
}

/** Newest first, in one page (spec §4). */
export async function list(caller: Caller): Promise<{ data: Webhook[]; nextCursor: null }> {
  const records = await db.listWebhooks(caller.workspaceId);
  return { data: records.map((record) => toWire(record)), nextCursor: null };
}

/** Its deliveries stop: an attempt that finds no webhook is not made. */
export async function remove(caller: Caller, webhookId: string): Promise<void> {
  if (!(await db.deleteWebhook(caller.workspaceId, webhookId))) throw problem('not_found');
}
