import type { Handler } from '../handle.ts';
import copyContacts from './copy-contacts.ts';
import deliverWebhook from './deliver-webhook.ts';
import purgeExpired from './purge-expired.ts';
import relayEvents from './relay-events.ts';
import sendEmail from './send-email.ts';
import settleWebhook from './settle-webhook.ts';
import sweep from './sweep.ts';
import webhookHealth from './webhook-health.ts';

export const handlers: Handler[] = [
  sendEmail,
  deliverWebhook,
  settleWebhook,
  copyContacts,
  relayEvents,
  sweep,
  purgeExpired,
  webhookHealth,
];
