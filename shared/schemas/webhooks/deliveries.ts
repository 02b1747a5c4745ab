import { z } from 'zod';
import { eventTypes } from '../events.ts';
import { CreatedAt, Id, Moment, pageOf, pageQuery, Timestamp } from '../fields.ts';

const deliveryStatuses = ['pending', 'delivered', 'failed', 'skipped'] as const;
const DeliveryStatus = z.enum(deliveryStatuses).meta({
  id: 'WebhookDeliveryStatus',
  description:
    'skipped: the webhook was switched off; failed and skipped ones can be sent again by redeliver and recover',
});

const attempt = {
  attemptedAt: Timestamp.describe('When it began'),
  durationMs: z.int32().describe('Until the status line, or until the failure'),
  responseStatus: z.int32().nullable().describe('The HTTP status; null where no answer came'),
  responseBody: z.string().nullable().describe('The first 1,024 bytes, as text'),
  error: z
    .enum(['timeout', 'dns', 'connection', 'tls', 'blocked_address', 'http_status'])
    .nullable()
    .describe('null after a 2xx; http_status after any other answer'),
};

export const WebhookAttempt = z
  .object(attempt)
  .meta({ id: 'WebhookAttempt', description: 'One try of a delivery, and what the endpoint answered' });
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

const delivery = {
  id: Id('delivery').describe('The Webhook-Id that every attempt carries'),
  eventId: Id('event'),
  eventType: z.string().meta({ description: 'The type of the event', example: 'email.delivered' }),
  status: DeliveryStatus.describe('What has become of it so far'),
  attempts: z.int32().describe('How many have been made'),
  nextAttemptAt: Timestamp.nullable().describe(
    'Not before then; null while an attempt is being made, and once none is to come. It is never in the past, nor before pausedUntil of the webhook: a delivery that is due, but waits behind others, has the time of the answer',
  ),
  createdAt: CreatedAt,
  completedAt: Timestamp.nullable().describe('When it was delivered, failed or skipped'),
  latestAttempt: WebhookAttempt.nullable().describe('null: none has been made'),
};

export const WebhookDelivery = z
  .object(delivery)
  .meta({ id: 'WebhookDelivery', description: 'One event on its way to one webhook' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookDeliveryPage = pageOf(WebhookDelivery, 'WebhookDeliveryPage');

export const WebhookDeliveryLog = z
  .object({
    ...delivery,
    attemptLog: z
      .array(z.object({ number: z.int32().describe('Counting from 1'), ...attempt }))
      .describe('Newest first; of very many the newest 100'),
  })
  .meta({ id: 'WebhookDeliveryLog', description: 'A delivery with its attempts' });
export type WebhookDeliveryLog = z.infer<typeof WebhookDeliveryLog>;

export const WebhookDeliveryFilter = z.object({
  status: DeliveryStatus.optional().describe('Deliveries that are in this status'),
  eventType: z
    .enum([...eventTypes, 'webhook.test'])
    .optional()
    .describe('Deliveries of events of this type'),
  ...pageQuery,
});
export type WebhookDeliveryFilter = z.infer<typeof WebhookDeliveryFilter>;

export const WebhookRecovery = z
  .object({
    since: Moment.describe('What failed or was skipped since then is sent again, oldest due first'),
  })
  .meta({ id: 'WebhookRecovery', description: 'From when on what was missed is delivered again' });
export type WebhookRecovery = z.infer<typeof WebhookRecovery>;

export const WebhookRecovered = z
  .object({
    since: Timestamp.describe('As it was asked for'),
    deliveries: z
      .int32()
      .describe(
        'How many have been found so far and will be sent again; of more than 100,000 no more are counted',
      ),
  })
  .meta({ id: 'WebhookRecovered', description: 'How many deliveries are made again' });
export type WebhookRecovered = z.infer<typeof WebhookRecovered>;
