import type { Endpoint } from '../endpoint.ts';
import apiKeys from './api-keys.ts';
import contactLists from './contact-lists.ts';
import contacts from './contacts.ts';
import email from './email.ts';
import events from './events.ts';
import suppressions from './suppressions.ts';
import webhooks from './webhooks.ts';

/** Every operation, a line per resource. The order is the order of the API description. */
export const endpoints: readonly Endpoint[] = [
  ...email,
  ...webhooks,
  ...events,
  ...suppressions,
  ...contacts,
  ...contactLists,
  ...apiKeys,
];
