import { z } from 'zod';
import { eventTypes } from '../events.ts';
import { CreatedAt, Id, Moment, pageOf, pageQuery, Timestamp } from '../fields.ts';

const deliveryStatuses = ['pending', 'delivered', 'failed', 'skipped'] as const;
const DeliveryStatus = z.enum(deliveryStatuses).meta({
  id: 'WebhookDeliveryStatus',
  description:
    'pending: not delivered yet; delivered: the endpoint accepted it; failed: no attempt succeeded; skipped: the webhook was switched off. redeliver and recover send failed and skipped deliveries again',
});

const attempt = {
  attemptedAt: Timestamp.describe('When the attempt began'),
  durationMs: z.int32().describe('The time until the status line came, or until the attempt failed'),
  responseStatus: z.int32().nullable().describe('The HTTP status; null if no answer came'),
  responseBody: z.string().nullable().describe('The first 1,024 bytes of the answer, as text'),
  error: z
    .enum(['timeout', 'dns', 'connection', 'tls', 'blocked_address', 'http_status'])
    .nullable()
    .describe(
      'The kind of failure. http_status: the status of the answer was not 2xx; null: the attempt succeeded',
    ),
};

export const WebhookAttempt = z
  .object(attempt)
  .meta({ id: 'WebhookAttempt', description: 'One try of a delivery, and what the endpoint answered' });
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

const delivery = {
  id: Id('delivery').describe('The id of the delivery; every attempt sends it as Webhook-Id'),
  eventId: Id('event'),
  eventType: z.string().meta({ description: 'The type of the event', example: 'email.delivered' }),
  status: DeliveryStatus.describe('The status of the delivery now'),
  attempts: z.int32().describe('How many attempts have been made'),
  nextAttemptAt: Timestamp.nullable().describe(
    'The earliest time of the next attempt; null during an attempt, and if no attempt will follow. It is never in the past, and never before pausedUntil of the webhook. If a delivery is due but waits behind others, it is the time of this answer',
  ),
  createdAt: CreatedAt,
  completedAt: Timestamp.nullable().describe('When the delivery became delivered, failed or skipped'),
  latestAttempt: WebhookAttempt.nullable().describe('The latest attempt; null if no attempt has been made'),
};

export const WebhookDelivery = z
  .object(delivery)
  .meta({ id: 'WebhookDelivery', description: 'The delivery of one event to one webhook' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookDeliveryPage = pageOf(WebhookDelivery, 'WebhookDeliveryPage');

export const WebhookDeliveryLog = z
  .object({
    ...delivery,
    attemptLog: z
      .array(z.object({ number: z.int32().describe('The number of the attempt, from 1'), ...attempt }))
      .describe('The attempts, newest first: at most the newest 100'),
  })
  .meta({ id: 'WebhookDeliveryLog', description: 'A delivery with its attempts' });
export type WebhookDeliveryLog = z.infer<typeof WebhookDeliveryLog>;

export const WebhookDeliveryFilter = z.object({
  status: DeliveryStatus.optional().describe('Deliveries that have this status now'),
  eventType: z
    .enum([...eventTypes, 'webhook.test'])
    .optional()
    .describe('Deliveries of events of this type'),
  ...pageQuery,
});
export type WebhookDeliveryFilter = z.infer<typeof WebhookDeliveryFilter>;

export const WebhookRecovery = z
  .object({
    since: Moment.describe(
      'Deliveries that failed or were skipped since this time are sent again, in the order in which they were due',
    ),
  })
  .meta({ id: 'WebhookRecovery', description: 'The time from which missed deliveries are sent again' });
export type WebhookRecovery = z.infer<typeof WebhookRecovery>;

export const WebhookRecovered = z
  .object({
    since: Timestamp.describe('The same since as in the request'),
    deliveries: z
      .int32()
      .describe(
        'How many deliveries have been found so far and will be sent again; the count stops at 100,000',
      ),
  })
  .meta({ id: 'WebhookRecovered', description: 'How many deliveries will be sent again' });
export type WebhookRecovered = z.infer<typeof WebhookRecovered>;
