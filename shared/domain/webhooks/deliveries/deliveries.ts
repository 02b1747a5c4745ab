/**
 * Deliveries to webhooks: when each is due, how many of one webhook are open at once, and what happens when a webhook
 * fails, is paused, switched off or deleted. The web process makes no attempts: it imports the other files of this
 * folder, which load no HTTP client.
 */

export { attempt } from './attempt.ts';
export { deliver, jobConcurrency } from './deliver.ts';
export { expire } from './expire.ts';
export { settleNext } from './settle.ts';
