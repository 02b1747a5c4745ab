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
    url: z.string().describe('Where deliveries are posted'),
    description: z.string().nullable().describe('For yourself'),
    events: z.array(z.string()).describe('A legacy webhook shows its legacy names'),
    apiVersion: z.string().nullable().describe('null: legacy payload'),
    active: z.boolean().describe('true while the webhook receives deliveries'),
    autoDisabled: z.boolean().describe('Switched off by the service after continuous failure'),
    autoDisableExempt: z.boolean().describe('Never switched off automatically'),
    autoDisableAfterMinutes: z.int32().describe('After so long a run of failures it is switched off'),
    atRiskAlertPercent: z
      .int32()
      .describe(
        'Share of the disable window after which one warning is sent; 0 never, 1 on the first failure',
      ),
    pausedUntil: Timestamp.nullable().describe(
      'Its endpoint answered 429 and is left alone until then; PATCH with active true, a redelivery or a test ends that',
    ),
    failingSince: Timestamp.nullable().describe(
      'When the current run of failures began; null while deliveries succeed',
    ),
    consecutiveFailures: z.int32().describe('Failed attempts in a row; a 429 is none'),
    inboundNumber: z
      .string()
      .nullable()
      .describe('It gets sms.received for that number only; null: of the whole workspace'),
    secretVersion: z.int32().describe('keyid of the signatures; rises by one per rotation'),
    secret: z.string().nullable().describe('Only in the response that issued it'),
    createdAt: CreatedAt,
  })
  .meta({ id: 'Webhook', description: 'An address that events are posted to, and how it fares' });
export type Webhook = z.infer<typeof Webhook>;

export const WebhookPage = pageOf(Webhook, 'WebhookPage');

const url = text({ min: 1, max: 2048 }).meta({
  description: 'Absolute http or https URL without credentials',
  example: 'https://example.com/hooks',
});
const description = text({ max: 500, multiline: true }).describe('For yourself');
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
  .describe('Limits the webhook to sms.received for that number, in E.164');
const autoDisableAfterMinutes = z
  .int32()
  .min(5)
  .max(10080)
  .describe('After so long a run of failures it is switched off; the default is normally 360');
const atRiskAlertPercent = z
  .int32()
  .min(0)
  .max(99)
  .describe(
    'Share of the disable window after which one warning is sent; 0 never, 1 on the first failure; default 10',
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
        description: 'The types of events that it gets',
        example: ['email.delivered', 'email.bounced'],
      }),
    apiVersion: z.string().nullish().describe('Version of the bodies; default the current one'),
    inboundNumber: InboundNumber.nullish(),
    autoDisableExempt: z.boolean().nullish().describe('Never switched off automatically; default false'),
    autoDisableAfterMinutes: autoDisableAfterMinutes.nullish(),
    atRiskAlertPercent: atRiskAlertPercent.nullish(),
  })
  .meta({ id: 'NewWebhook', description: 'An address that events are to be posted to' });
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
      'Legacy names are for a legacy webhook that stays one',
    ),
    apiVersion: change(
      'refused',
      z.string(),
      'On a legacy webhook, together with events, it makes it a v2 webhook',
    ),
    inboundNumber: change('clears', InboundNumber, 'Without one: the whole workspace'),
    active: change(
      'refused',
      z.boolean(),
      'true ends a pause or a switch-off and forgets the failures so far; false keeps deliveries waiting',
    ),
    autoDisableExempt: change('default', z.boolean()),
    autoDisableAfterMinutes: change('default', autoDisableAfterMinutes),
    atRiskAlertPercent: change('default', atRiskAlertPercent),
  })
  .meta({ id: 'WebhookChanges', description: 'What is to change of a webhook; what is left out stays' });
export type WebhookChanges = z.infer<typeof WebhookChanges>;
