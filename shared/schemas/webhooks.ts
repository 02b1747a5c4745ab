import { z } from 'zod';
import { eventTypes } from './events.ts';
import { Id, pageOf, Timestamp, text } from './fields.ts';

export const Webhook = z
  .object({
    id: Id('webhook'),
    url: z.string(),
    description: z.string().nullable(),
    events: z.array(z.string()),
    apiVersion: z.string().nullable().meta({ description: 'null: legacy payload' }),
    active: z.boolean().meta({ description: 'true while the webhook receives deliveries' }),
    autoDisabled: z.boolean().meta({ description: 'Switched off by the service after continuous failure' }),
    autoDisableExempt: z.boolean().meta({ description: 'Never switched off automatically' }),
    autoDisableAfterMinutes: z.int32(),
    atRiskAlertPercent: z.int32().meta({
      description:
        'Share of the disable window after which one warning is sent; 0 never, 1 on the first failure',
    }),
    failingSince: Timestamp.nullable(),
    consecutiveFailures: z.int32(),
    inboundNumber: z.string().nullable(),
    secretVersion: z.int32().meta({ description: 'keyid of the signatures; rises by one per rotation' }),
    secret: z.string().nullable().meta({ description: 'Only in the response that issued it' }),
    createdAt: Timestamp,
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;

export const WebhookPage = pageOf(Webhook, 'WebhookPage');

export const NewWebhook = z
  .object({
    url: text({ min: 1, max: 2048 }).meta({
      description: 'Absolute http or https URL without credentials',
      example: 'https://example.com/hooks',
    }),
    description: text({ max: 500, multiline: true }).nullish(),
    events: z
      .array(z.enum(eventTypes, { error: 'must be an event type such as email.delivered' }))
      .min(1)
      .max(100)
      .meta({ example: ['email.delivered', 'email.bounced'] }),
    apiVersion: z.string().nullish().meta({ description: 'Version of the bodies; default the current one' }),
    inboundNumber: z
      .string()
      .regex(/^\+[1-9][0-9]{6,14}$/, 'must be a number in E.164 format')
      .nullish()
      .meta({ description: 'Limits the webhook to sms.received for that number' }),
    autoDisableExempt: z.boolean().nullish(),
    autoDisableAfterMinutes: z.int32().min(5).max(10080).nullish(),
    atRiskAlertPercent: z.int32().min(0).max(99).nullish(),
  })
  .meta({ id: 'NewWebhook' });
export type NewWebhook = z.infer<typeof NewWebhook>;
