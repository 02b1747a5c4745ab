import { now } from '../../common/clock.ts';
import { invalid } from '../../common/errors.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { WebhookDelivery, WebhookRecovered } from '../../schemas/webhooks/deliveries.ts';
import * as deliveries from './deliveries/again.ts';
import * as deliveryLog from './deliveries/log.ts';

/** Sends a delivery again with the same Webhook-Id and bytes, on a new schedule, whatever its outcome was. */
export async function redeliver(
  caller: Caller,
  webhookId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  await deliveries.redeliver(caller, webhookId, deliveryId);
  return deliveryLog.findOne(caller, webhookId, deliveryId);
}

/** Sends again, paced, all deliveries that failed or were skipped since then. */
export async function recover(caller: Caller, webhookId: string, since: Date): Promise<WebhookRecovered> {
  if (since > now()) throw invalid('since', 'must not be in the future');
  const count = await deliveries.recover(caller, webhookId, since);
  return { since: since.toISOString(), deliveries: count };
}
