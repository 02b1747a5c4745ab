/**
 * Deliveries to webhooks: when each is due, how many of a webhook are on their way at once, and what becomes of those of
 * a webhook that fails, is paused, switched off or deleted. Web makes no attempts: what it needs it takes from the files
 * beside these, which load no HTTP client.
 */

export { attempt } from './webhook-deliveries/attempt.ts';
export { deliver, jobsInHand } from './webhook-deliveries/deliver.ts';
export { expire } from './webhook-deliveries/expire.ts';
export { refill } from './webhook-deliveries/refill.ts';
export { settleNext } from './webhook-deliveries/settle.ts';
export { sweep } from './webhook-deliveries/sweep.ts';
