import { now } from '../../common/clock.ts';
import { invalid } from '../../common/errors.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { WebhookDelivery, WebhookRecovered } from '../../schemas/webhooks/deliveries.ts';
import * as deliveries from './deliveries/again.ts';
import * as deliveryLog from './deliveries/log.ts';

/** The same Webhook-Id and bytes, on a new schedule, whatever became of the delivery. */
export async function redeliver(
  caller: Caller,
  webhookId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  await deliveries.redeliver(caller, webhookId, deliveryId);
  return deliveryLog.findOne(caller, webhookId, deliveryId);
}

/** The same for all that failed or was skipped since then, paced. */
export async function recover(caller: Caller, webhookId: string, since: Date): Promise<WebhookRecovered> {
  if (since > now()) throw invalid('since', 'must not be in the future');
  const count = await deliveries.recover(caller, webhookId, since);
  return { since: since.toISOString(), deliveries: count };
}
