import { config } from '../../shared/config.ts';
import * as deliveries from '../../shared/domain/webhook-deliveries.ts';
import { deliverWebhook } from '../../shared/jobs/deliver-webhook.ts';
import { handle } from '../handle.ts';

export default handle(deliverWebhook, { concurrency: config.WEBHOOK_CONCURRENCY }, ({ deliveryId }) =>
  deliveries.attempt(deliveryId),
);
