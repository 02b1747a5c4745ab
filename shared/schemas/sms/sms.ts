import { z } from 'zod';
import {
  CreatedAt,
  Id,
  JsonObject,
  Moment,
  messagePageQuery,
  ownReference,
  ownTag,
  pageOf,
  Timestamp,
  tagFilter,
  text,
  UpdatedAt,
} from '../fields.ts';
import { SmsCost, SmsEncoding, UnicodeRule } from './parts.ts';

export const SmsDirection = z
  .enum(['outbound', 'inbound'])
  .describe('outbound: sent by the workspace; inbound: sent to the workspace');
export type SmsDirection = z.infer<typeof SmsDirection>;

export const SmsStatus = z
  .enum(['queued', 'held', 'sent', 'delivered', 'failed', 'cancelled', 'received'])
  .describe(
    'queued: accepted or scheduled; held: waits until the workspace can pay for it; sent: the network has accepted it, not yet delivered or failed; delivered: it arrived on the phone; failed: see reason; received: an inbound text',
  );
export type SmsStatus = z.infer<typeof SmsStatus>;

export const SmsReason = z
  .object({
    category: z
      .enum(['undeliverable', 'expired', 'rejected', 'suppressed', 'failed'])
      .describe(
        'undeliverable: the network or the phone refused the text; expired: the text was not delivered in time; rejected: the text could not be sent in this form; suppressed: the number is on the suppression list; failed: any other cause',
      ),
    code: z.string().meta({ description: 'The cause, for programs', example: 'unknown_subscriber' }),
    description: z.string().nullable().describe('The cause in words, if more is known'),
    retryable: z.boolean().describe('Whether sending it again later may succeed'),
  })
  .meta({ id: 'SmsReason', description: 'Why a text failed' });
export type SmsReason = z.infer<typeof SmsReason>;

export const SmsMessage = z
  .object({
    id: Id('sms'),
    direction: SmsDirection,
    status: SmsStatus,
    sender: z
      .string()
      .nullable()
      .describe('A name, or a number in E.164; null of an inbound text without recipients.read'),
    recipient: z
      .string()
      .nullable()
      .describe(
        'A number in E.164. Of an inbound text it may be the sender name that the phone replied to. null without the scope recipients.read',
      ),
    content: z.string().nullable().describe('The text as it is sent; null without the scope content.read'),
    country: z
      .string()
      .nullable()
      .describe(
        'ISO 3166-1 alpha-2 code of the country of the other number; null if the number does not show its country',
      ),
    parts: z.int32().min(0).describe('How many SMS parts the text has; 0 if the text could not be created'),
    encoding: SmsEncoding,
    cost: SmsCost.describe('The price of all parts; an inbound text has no price'),
    reason: SmsReason.optional().describe('Why the text failed; left out if it did not fail'),
    clientReference: ownReference,
    clientTag: ownTag,
    batchId: Id('batch').nullable(),
    contactId: Id('contact').nullable().describe('The contact that has the other number'),
    templateName: z.string().nullable().describe('The name of the stored template of this text'),
    inReplyTo: Id('sms')
      .nullable()
      .describe('For an inbound text: the last text to that phone within 30 days'),
    createdAt: CreatedAt,
    scheduledAt: Timestamp.nullable().describe('When it is to be sent; null: at once'),
    sentAt: Timestamp.nullable().describe('When the network accepted it'),
    deliveredAt: Timestamp.nullable().describe('When it arrived on the phone'),
    updatedAt: UpdatedAt,
  })
  .meta({
    id: 'SmsMessage',
    description: 'One text, sent or received: its content, price and status',
  });
export type SmsMessage = z.infer<typeof SmsMessage>;

export const SmsPage = pageOf(SmsMessage, 'SmsPage');

export const NewSms = z
  .object({
    sender: text({ min: 1, max: 40 }).nullish().meta({
      description:
        'A sender that is approved for the country of the recipient; default: the sender of the workspace',
      example: 'Acme',
    }),
    recipient: text({ min: 1, max: 40 }).meta({
      description: 'A number in any common format; without a country code it is a UK number',
      example: '+447700900123',
    }),
    content: text({ min: 1, max: 5_000, multiline: true })
      .nullish()
      .meta({ description: 'Provide exactly one of content and template', example: 'Your parcel is here.' }),
    template: z
      .object({
        name: text({ min: 1, max: 64 }).meta({
          description: 'The name of a stored template',
          example: 'Appointment reminder',
        }),
        data: JsonObject.nullish().meta({
          description: 'The values that Liquid merges',
          example: { name: 'Ada', day: 'Monday' },
        }),
      })
      .nullish()
      .describe('The name of a stored template, and the values that Liquid merges'),
    unicode: UnicodeRule,
    clientReference: text({ max: 64 })
      .nullish()
      .describe('Your own reference; the message and its events have it'),
    clientTag: text({ max: 64 })
      .nullish()
      .describe(
        'Your own tag, stored in lower case. Each character that is not a letter or digit of any script becomes a hyphen',
      ),
    scheduledAt: Moment.nullish().describe(
      'When to send it: more than 5 minutes and less than 3 months ahead',
    ),
    shortenLinks: z
      .boolean()
      .nullish()
      .describe(
        'true replaces each http(s) URL by a short link, whose clicks are counted. A text may have at most 10 such URLs, of at most 2,048 characters each',
      ),
  })
  .meta({ id: 'NewSms', description: 'A text to be sent: from content, or from a stored template' });
export type NewSms = z.infer<typeof NewSms>;

export const SmsFilter = z.object({
  status: SmsStatus.optional().meta({ param: { description: 'Texts that have this status now' } }),
  direction: SmsDirection.optional().meta({
    param: { description: 'Texts in this direction; default: both' },
  }),
  recipient: text({ min: 1, max: 40 })
    .optional()
    .describe('A number in any common format, or a name; needs the scope recipients.read'),
  sender: text({ min: 1, max: 40 })
    .optional()
    .describe('A sender name as texts show it, or a number; a number needs the scope recipients.read'),
  clientReference: text({ max: 64 })
    .optional()
    .describe('The clientReference of the message, as you gave it'),
  clientTag: tagFilter('The clientTag of the message, in upper or lower case'),
  batchId: Id('batch').optional().describe('Messages of this batch'),
  conversationId: Id('conversation').optional().describe('Messages of this conversation'),
  ...messagePageQuery,
});
export type SmsFilter = z.infer<typeof SmsFilter>;
