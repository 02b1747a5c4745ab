/**
 * The typed client of the API, for Node and without packages: `import { createClient } from 'messaging-service/client'`.
 * `npm run client` makes its types anew from the description of the API, and a package of it in `.local/client`.
 */

export { type Client, createClient, type Settings } from './client.ts';
export type { components, paths } from './description.d.ts';
export type { Event, EventPage, Input, Item, ListPath, Output, PathOf, Schema } from './operations.ts';
export { type ProblemCode, Refusal } from './refusal.ts';
export {
  type ReceivedWebhook,
  type VerifiedWebhook,
  verifyWebhook,
  WebhookRefused,
} from './verify-webhook.ts';
