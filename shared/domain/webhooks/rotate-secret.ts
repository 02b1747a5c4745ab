import { now } from '../../common/clock.ts';
import { orNotFound } from '../../common/errors.ts';
import { seal } from '../../common/secrets.ts';
import * as db from '../../db/webhooks/webhooks.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { Webhook } from '../../schemas/webhooks/webhooks.ts';
import { newSecret, toWire } from './record.ts';

export const overlapMs = 72 * 3_600_000;

/** Makes a new secret. The old one also signs for 72 hours, or until the next rotation (API decisions §6). */
export async function rotateSecret(caller: Caller, webhookId: string): Promise<Webhook> {
  const webhook = orNotFound(await db.findWebhookForUpdate(caller.workspaceId, webhookId));
  const time = now();
  const { record, secret } = withNewSecret(webhook);
  // A legacy delivery has room for one signature only.
  const isOverlapping = webhook.apiVersion !== null;
  const rotated = {
    ...record,
    previousSecret: isOverlapping ? webhook.secret : null,
    previousSecretUntil: isOverlapping ? new Date(time.getTime() + overlapMs) : null,
  };
  await db.updateWebhook(caller.workspaceId, rotated, time);
  return toWire(rotated, secret);
}

/** Returns the webhook with a secret of the next version, and without a previous secret. */
export function withNewSecret(webhook: db.WebhookRecord): { record: db.WebhookRecord; secret: string } {
  const secret = newSecret();
  const record = {
    ...webhook,
    secretVersion: webhook.secretVersion + 1,
    secret: seal(webhook.id, secret),
    previousSecret: null,
    previousSecretUntil: null,
  };
  return { record, secret };
}
