/**
 * Deliveries to webhooks: when each is due, how many of a webhook are on their way at once, and what becomes of those of
 * a webhook that fails, is paused, switched off or deleted. Web makes no attempts: what it needs it takes from the files
 * beside these, which load no HTTP client.
 */

export { attempt } from './attempt.ts';
export { deliver, jobsInHand } from './deliver.ts';
export { expire } from './expire.ts';
export { refill } from './refill.ts';
export { settleNext } from './settle.ts';
export { sweep } from './sweep.ts';
