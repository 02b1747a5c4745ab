/** Deliveries as workers, the relay and the sweep see them: across workspaces. */

export { findOldestDueDeliveries, listAdmissions } from './admit.system.ts';
export { type ClaimedDelivery, type ClaimedWebhook, claimDelivery, listTests } from './claim.system.ts';
export type { DeliveryAttempt as Attempt } from './deliveries.ts';
export {
  deleteAttemptsBefore,
  deleteDeliveriesBefore,
  listWebhooksWaitingSince,
  updateExpired,
} from './expire.system.ts';
export { type DeliveryOutcome, finishDelivery } from './finish.system.ts';
export { insertDeliveries, type NewDelivery } from './insert.system.ts';
export { listServed, listStates, type Pacing, type WebhookState } from './pacing.system.ts';
export { deliveryTable } from './table.system.ts';
