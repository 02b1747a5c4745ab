import * as deliveries from '../../shared/domain/webhooks/deliveries/deliveries.ts';
import { settleWebhook } from '../../shared/jobs/settle-webhook.ts';
import { handle } from '../handle.ts';

export default handle(settleWebhook, { concurrency: 2 }, ({ webhookId }) => deliveries.settleNext(webhookId));
