/** Deliveries as workers, the relay and the sweep see them: across workspaces. */

export { type Admission, findOldestDueDeliveries, listAdmissions } from './webhook-deliveries/admit.ts';
export { type ClaimedDelivery, type ClaimedWebhook, claimDelivery } from './webhook-deliveries/claim.ts';
export {
  deleteAttemptsBefore,
  deleteDeliveriesBefore,
  listWebhooksWaitingSince,
  updateExpired,
} from './webhook-deliveries/expire.ts';
export { type Attempt, type DeliveryOutcome, finishDelivery } from './webhook-deliveries/finish.ts';
export { type DeliveryStatus, insertDeliveries, type NewDelivery } from './webhook-deliveries/insert.ts';
export type { Pacing } from './webhook-deliveries/pacing.ts';
export { deliveryTable } from './webhook-deliveries/table.ts';
