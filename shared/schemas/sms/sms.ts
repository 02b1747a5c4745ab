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
  .describe('outbound: sent by the workspace; inbound: sent to it');
export type SmsDirection = z.infer<typeof SmsDirection>;

export const SmsStatus = z
  .enum(['queued', 'held', 'sent', 'delivered', 'failed', 'cancelled', 'received'])
  .describe(
    'queued: accepted or scheduled; held: waits until the workspace can pay for it; sent: the network has it, outcome awaited; delivered: it is on the phone; failed: see reason; received: an inbound text',
  );
export type SmsStatus = z.infer<typeof SmsStatus>;

export const SmsReason = z
  .object({
    category: z
      .enum(['undeliverable', 'expired', 'rejected', 'suppressed', 'failed'])
      .describe(
        'undeliverable: the network or the phone refused it; expired: it was not delivered in time; rejected: it could not be sent as it is; suppressed: the number is on the suppression list; failed: anything else',
      ),
    code: z.string().meta({ description: 'The cause, for programs', example: 'unknown_subscriber' }),
    description: z.string().nullable().describe('The cause in words, where more is known'),
    retryable: z.boolean().describe('Sending again later may succeed'),
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
      .describe('E.164, or the name that was answered; null without the scope recipients.read'),
    content: z.string().nullable().describe('As it is sent; null without the scope content.read'),
    country: z
      .string()
      .nullable()
      .describe('ISO 3166-1 alpha-2 of the number at the other end; null where it does not tell'),
    parts: z.int32().min(0).describe('0 where the text could not be made'),
    encoding: SmsEncoding,
    cost: SmsCost.describe('The price of all its parts; of an inbound text there is none'),
    reason: SmsReason.optional().describe('Why it failed; left out unless it did'),
    clientReference: ownReference,
    clientTag: ownTag,
    batchId: Id('batch').nullable(),
    contactId: Id('contact').nullable().describe('The contact with the number at the other end'),
    templateName: z.string().nullable().describe('The stored template that it was made from'),
    inReplyTo: Id('sms').nullable().describe('Of an inbound text: the last one to that phone within 30 days'),
    createdAt: CreatedAt,
    scheduledAt: Timestamp.nullable().describe('When it is to go out; null: at once'),
    sentAt: Timestamp.nullable().describe('When the network took it'),
    deliveredAt: Timestamp.nullable().describe('When the phone had it'),
    updatedAt: UpdatedAt,
  })
  .meta({
    id: 'SmsMessage',
    description: 'One text, out or in: what it says, what it costs, what became of it',
  });
export type SmsMessage = z.infer<typeof SmsMessage>;

export const SmsPage = pageOf(SmsMessage, 'SmsPage');

export const NewSms = z
  .object({
    sender: text({ min: 1, max: 40 }).nullish().meta({
      description:
        'A sender that is approved for the country of the recipient; default that of the workspace',
      example: 'Acme',
    }),
    recipient: text({ min: 1, max: 40 }).meta({
      description: 'Any common format, UK without a country code',
      example: '+447700900123',
    }),
    content: text({ min: 1, max: 5_000, multiline: true })
      .nullish()
      .meta({ description: 'Provide exactly one of content and template', example: 'Your parcel is here.' }),
    template: z
      .object({
        name: text({ min: 1, max: 64 }).meta({
          description: 'Of a stored template',
          example: 'Appointment reminder',
        }),
        data: JsonObject.nullish().meta({
          description: 'The values that Liquid merges',
          example: { name: 'Ada', day: 'Monday' },
        }),
      })
      .nullish()
      .describe('name of a stored template, and the values that Liquid merges'),
    unicode: UnicodeRule,
    clientReference: text({ max: 64 }).nullish().describe('Returned on the message and its events'),
    clientTag: text({ max: 64 })
      .nullish()
      .describe('Stored in lower case; what is no letter or digit of any script becomes a hyphen'),
    scheduledAt: Moment.nullish().describe('More than 5 minutes and less than 3 months ahead'),
    shortenLinks: z
      .boolean()
      .nullish()
      .describe(
        'Each http(s) URL gives way to a short link whose clicks are counted; at most 10 a text, of at most 2,048 characters each',
      ),
  })
  .meta({ id: 'NewSms', description: 'A text to be sent: from content, or from a stored template' });
export type NewSms = z.infer<typeof NewSms>;

export const SmsFilter = z.object({
  status: SmsStatus.optional().meta({ param: { description: 'Texts that have this status now' } }),
  direction: SmsDirection.optional().meta({
    param: { description: 'Texts in this direction; default both' },
  }),
  recipient: text({ min: 1, max: 40 })
    .optional()
    .describe('A number in any common format, or a name; needs the scope recipients.read'),
  sender: text({ min: 1, max: 40 })
    .optional()
    .describe('A name as it is shown, or a number; a number needs the scope recipients.read'),
  clientReference: text({ max: 64 }).optional().describe('Of the message, as it was given'),
  clientTag: tagFilter('Of the message, in any case'),
  batchId: Id('batch').optional().describe('Messages of this batch'),
  conversationId: Id('conversation').optional().describe('Messages of this conversation'),
  ...messagePageQuery,
});
export type SmsFilter = z.infer<typeof SmsFilter>;
