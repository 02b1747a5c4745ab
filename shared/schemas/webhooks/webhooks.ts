import { z } from 'zod';
import { parsePhoneNumber } from '../../formats/sms/phone-number.ts';
import { eventTypes } from '../events.ts';
import { CreatedAt, change, Id, pageOf, Timestamp, text } from '../fields.ts';

/** The events that webhooks of the first version subscribe to (API decisions §5). */
export const legacyEvents = ['delivery_receipt', 'inbound'] as const;
export type LegacyEvent = (typeof legacyEvents)[number];

export const Webhook = z
  .object({
    id: Id('webhook'),
    url: z.string().describe('The address to which deliveries are posted'),
    description: z.string().nullable().describe('A note for yourself'),
    events: z
      .array(z.string())
      .describe('The types of events that the webhook gets; a legacy webhook shows their legacy names'),
    apiVersion: z.string().nullable().describe('The API version of the bodies; null: the legacy payload'),
    active: z.boolean().describe('true while the webhook receives deliveries'),
    autoDisabled: z
      .boolean()
      .describe('true if the service switched the webhook off, because its deliveries failed for too long'),
    autoDisableExempt: z.boolean().describe('true: never switched off automatically'),
    autoDisableAfterMinutes: z
      .int32()
      .describe('If deliveries fail without a success for this many minutes, the webhook is switched off'),
    atRiskAlertPercent: z
      .int32()
      .describe(
        'One warning is sent when deliveries have failed for this percentage of autoDisableAfterMinutes. 0: no warning; 1: a warning at the first failure',
      ),
    pausedUntil: Timestamp.nullable().describe(
      'The endpoint answered 429, so nothing is sent to it until this time. A PATCH with active true, a redelivery or a test ends the pause',
    ),
    failingSince: Timestamp.nullable().describe(
      'When the current run of failures began; null while deliveries succeed',
    ),
    consecutiveFailures: z.int32().describe('Failed attempts in a row; an answer 429 does not count'),
    inboundNumber: z
      .string()
      .nullable()
      .describe(
        'The webhook gets sms.received only for texts to this number, in E.164; null: for texts to all numbers of the workspace',
      ),
    secretVersion: z.int32().describe('The keyid in the signatures; each rotation adds one'),
    secret: z
      .string()
      .nullable()
      .describe('The secret of the signatures; null except in the answer that issued it'),
    createdAt: CreatedAt,
  })
  .meta({
    id: 'Webhook',
    description: 'An address to which events are posted, with the state of its deliveries',
  });
export type Webhook = z.infer<typeof Webhook>;

export const WebhookPage = pageOf(Webhook, 'WebhookPage');

const url = text({ min: 1, max: 2048 }).meta({
  description: 'Absolute http or https URL without credentials',
  example: 'https://example.com/hooks',
});
const description = text({ max: 500, multiline: true }).describe('A note for yourself');
/** Compared byte for byte with the normalized recipients of texts, so a number in another form would match no text. */
export const InboundNumber = z
  .string()
  .regex(/^\+[1-9][0-9]{6,14}$/, { error: 'must be a number in E.164 format', abort: true })
  .superRefine((given, context) => {
    const parsed = parsePhoneNumber(given);
    if (!parsed.ok) context.addIssue({ code: 'custom', message: parsed.message });
    else if (parsed.number !== given)
      context.addIssue({ code: 'custom', message: `must be in E.164 format: ${parsed.number}` });
  })
  .describe('The webhook gets sms.received only for texts to this number, in E.164');
const autoDisableAfterMinutes = z
  .int32()
  .min(5)
  .max(10080)
  .describe(
    'If deliveries fail without a success for this many minutes, the webhook is switched off; the default is normally 360',
  );
const atRiskAlertPercent = z
  .int32()
  .min(0)
  .max(99)
  .describe(
    'One warning is sent when deliveries have failed for this percentage of autoDisableAfterMinutes. 0: no warning; 1: a warning at the first failure; default 10',
  );

export const NewWebhook = z
  .object({
    url,
    description: description.nullish(),
    events: z
      .array(z.enum(eventTypes))
      .min(1)
      .max(100)
      .meta({
        description: 'The types of events that the webhook gets',
        example: ['email.delivered', 'email.bounced'],
      }),
    apiVersion: z.string().nullish().describe('The API version of the bodies; default: the current version'),
    inboundNumber: InboundNumber.nullish(),
    autoDisableExempt: z
      .boolean()
      .nullish()
      .describe('true: never switched off automatically; default false'),
    autoDisableAfterMinutes: autoDisableAfterMinutes.nullish(),
    atRiskAlertPercent: atRiskAlertPercent.nullish(),
  })
  .meta({ id: 'NewWebhook', description: 'A new webhook: an address to which events are posted' });
export type NewWebhook = z.infer<typeof NewWebhook>;

export const WebhookChanges = z
  .object({
    url: change('refused', url),
    description: change('clears', description),
    events: change(
      'refused',
      z
        .array(z.enum([...eventTypes, ...legacyEvents]))
        .min(1)
        .max(100)
        .meta({ example: ['email.delivered', 'email.bounced'] }),
      'The types of events that the webhook gets. Legacy names are only for a webhook that stays a legacy webhook',
    ),
    apiVersion: change(
      'refused',
      z.string(),
      'The API version of the bodies. Given together with events, it turns a legacy webhook into a v2 webhook',
    ),
    inboundNumber: change(
      'clears',
      InboundNumber,
      'The webhook gets sms.received only for texts to this number, in E.164; without a number, for texts to all numbers of the workspace',
    ),
    active: change(
      'refused',
      z.boolean(),
      'true switches the webhook on, ends a pause, and resets the count of failures; false lets deliveries wait',
    ),
    autoDisableExempt: change('default', z.boolean()),
    autoDisableAfterMinutes: change('default', autoDisableAfterMinutes),
    atRiskAlertPercent: change('default', atRiskAlertPercent),
  })
  .meta({
    id: 'WebhookChanges',
    description: 'The changes of a webhook. A field that is left out stays unchanged',
  });
export type WebhookChanges = z.infer<typeof WebhookChanges>;
