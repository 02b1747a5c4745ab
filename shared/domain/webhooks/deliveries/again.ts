import { now } from '../../../common/clock.ts';
import { orNotFound, problem } from '../../../common/errors.ts';
import { config } from '../../../config/config.ts';
import { transaction } from '../../../db/client.ts';
import * as db from '../../../db/webhooks/settlements.ts';
import { findWebhookForUpdate, type WebhookRecord } from '../../../db/webhooks/webhooks.ts';
import { deliverWebhook } from '../../../jobs/deliver-webhook.ts';
import { enqueue } from '../../../queue/queue.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import { jobName } from '../../../work/job-name.ts';
import { wakeSettlement } from './settle.ts';

const dayMs = 86_400_000;
/** Deliveries are deleted an hour after their retention has ended. */
const purgeDelayMs = 3_600_000;

/**
 * Sends a delivery again, whatever its outcome was, with the same Webhook-Id and bytes and a new schedule. A delivery
 * that is being attempted at this moment stays as it is.
 */
export function redeliver(caller: Caller, webhookId: string, deliveryId: string): Promise<void> {
  const { workspaceId } = caller;
  return transaction(async () => {
    const webhook = await servedWebhook(workspaceId, webhookId);
    const time = now();
    await db.updateWebhookResumed(workspaceId, webhook, time);
    const isReady = await db.updateRedelivered(workspaceId, webhookId, deliveryId, time);
    const claims = await db.findDeliveryClaims(workspaceId, webhookId, deliveryId);
    if (claims === null) throw problem('not_found');
    if (isReady)
      enqueue(
        deliverWebhook,
        { deliveryId, webhookId, dueAt: time.getTime() },
        { lane: 'retry', id: jobName({ id: deliveryId, claims }) },
      );
  });
}

/**
 * Sends again all deliveries that failed or were skipped since then, whenever they were made, oldest first and paced. A
 * job updates their rows later, in batches. Returns how many of these deliveries are on disk.
 */
export function recover(caller: Caller, webhookId: string, asked: Date): Promise<number> {
  const { workspaceId } = caller;
  return transaction(async () => {
    await servedWebhook(workspaceId, webhookId);
    const time = now();
    const since = noOlder(asked, time);
    const count = await db.findRecoverableCount(workspaceId, webhookId, since);
    // Even if none is found: a delivery may have ended, or been skipped by the relay, and not be on disk yet.
    await db.insertRecovery(workspaceId, webhookId, since, time);
    // A customer who calls this regularly, just in case, does not slow a webhook that has missed nothing.
    if (count > 0) await db.updateWebhookRested(workspaceId, webhookId, time);
    wakeSettlement(webhookId);
    return count;
  });
}

/**
 * Returns `time`, or the oldest time that a kept delivery can have if `time` is older than that. Clients send their
 * zero time, such as the year 1, for "all", and the database does not give back each year as it was stored.
 */
function noOlder(since: Date, time: Date): Date {
  const keptMs = config.EVENT_RETENTION_DAYS * dayMs + purgeDelayMs;
  return new Date(Math.max(since.getTime(), time.getTime() - keptMs, 0));
}

/** Locks a webhook. Refuses one that is off: a delivery sent again to it would only be skipped again, or wait. */
async function servedWebhook(workspaceId: string, webhookId: string): Promise<WebhookRecord> {
  const webhook = orNotFound(await findWebhookForUpdate(workspaceId, webhookId));
  if (!webhook.active)
    throw problem('webhook_disabled', {
      detail: webhook.autoDisabled
        ? 'The webhook was switched off after continuous failure. Set active to true first.'
        : 'The webhook is paused. Set active to true first.',
    });
  return webhook;
}
