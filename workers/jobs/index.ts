import type { Handler } from '../handle.ts';
import deliverWebhook from './deliver-webhook.ts';
import purgeExpired from './purge-expired.ts';
import relayEvents from './relay-events.ts';
import sendEmail from './send-email.ts';
import sweep from './sweep.ts';

export const handlers: Handler[] = [sendEmail, deliverWebhook, relayEvents, sweep, purgeExpired];
