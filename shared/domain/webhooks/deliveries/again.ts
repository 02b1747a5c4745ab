import { now } from '../../../common/clock.ts';
import { problem } from '../../../common/errors.ts';
import { transaction } from '../../../db/client.ts';
import * as db from '../../../db/webhooks/settlements.ts';
import { findWebhookForUpdate, type WebhookRecord } from '../../../db/webhooks/webhooks.ts';
import { deliverWebhook } from '../../../jobs/deliver-webhook.ts';
import { enqueue } from '../../../queue/queue.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import { jobName } from '../../../work/job-name.ts';
import { wakeSettlement } from './settle.ts';

/**
 * Sends a delivery again, whatever became of it: the same Webhook-Id and bytes, a new schedule. Nothing changes for one
 * that is being attempted at this moment.
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
 * Sends all that was made since then and has failed or was skipped again, oldest first and paced. The rows follow in
 * batches; returns how many there are.
 */
export function recover(caller: Caller, webhookId: string, since: Date): Promise<number> {
  const { workspaceId } = caller;
  return transaction(async () => {
    await servedWebhook(workspaceId, webhookId);
    const time = now();
    const count = await db.findRecoverableCount(workspaceId, webhookId, since);
    if (count === 0) return 0;
    await db.insertRecovery(workspaceId, webhookId, since, time);
    await db.updateWebhookRested(workspaceId, webhookId, time);
    wakeSettlement(webhookId);
    return count;
  });
}

/** A delivery that is sent again to a webhook that is off would only be skipped again, or wait. */
async function servedWebhook(workspaceId: string, webhookId: string): Promise<WebhookRecord> {
  const webhook = await findWebhookForUpdate(workspaceId, webhookId);
  if (!webhook) throw problem('not_found');
  if (!webhook.active)
    throw problem('webhook_disabled', {
      detail: webhook.autoDisabled
        ? 'The webhook was switched off after continuous failure; set active to true first.'
        : 'The webhook is paused; set active to true first.',
    });
  return webhook;
}
