import * as deliveries from '../../shared/domain/webhooks/deliveries/deliveries.ts';
import { deliverWebhook } from '../../shared/jobs/deliver-webhook.ts';
import { handle } from '../handle.ts';

const workers = 2;
const concurrency = Math.ceil(deliveries.jobConcurrency() / workers);

export default handle(deliverWebhook, { concurrency, workers }, (turn, _lane, isStalled) =>
  deliveries.deliver(turn, isStalled),
);
