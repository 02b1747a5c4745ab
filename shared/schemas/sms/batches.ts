import { z } from 'zod';
import {
  CreatedAt,
  Id,
  JsonObject,
  Moment,
  messagePageQuery,
  NamedId,
  ownReference,
  ownTag,
  pageOf,
  Timestamp,
  tagFilter,
  text,
  UpdatedAt,
} from '../fields.ts';
import { SmsCost, SmsCostSum, SmsEncoding, UnicodeRule } from './parts.ts';

export const SmsBatchStatus = z
  .enum(['scheduled', 'processing', 'paused', 'completed', 'cancelled'])
  .describe(
    'scheduled: begins at scheduledAt; processing: its messages are being created and sent; paused: see pausedReason; completed: every message has its final status, or no report came within 72 hours',
  );
export type SmsBatchStatus = z.infer<typeof SmsBatchStatus>;

export const PausedReason = z
  .enum(['insufficient_balance', 'limit_reached', 'sending_blocked', 'key_revoked'])
  .describe(
    'insufficient_balance: the balance is too low for more messages; limit_reached: the limit of the key is used up; sending_blocked: the operator has stopped sending; key_revoked: the key of the batch was deleted or has expired',
  );
export type PausedReason = z.infer<typeof PausedReason>;

const Count = z.int32().min(0);

export const SmsBatch = z
  .object({
    id: Id('batch'),
    status: SmsBatchStatus,
    counts: z
      .object({
        total: Count.describe('The sum of all other counts. While expanding is true, it may still grow'),
        waiting: Count.describe('Rows that have no message yet'),
        queued: Count.describe('Messages that wait to be sent'),
        held: Count.describe('Always 0: if the balance is too low, the batch is paused'),
        sent: Count.describe('Messages that the network has accepted, not yet delivered or failed'),
        delivered: Count.describe('Messages that arrived on the phone'),
        failed: Count.describe('Messages that will not arrive'),
        cancelled: Count.describe('Messages and rows that were cancelled'),
      })
      .meta({ id: 'SmsBatchCounts', description: 'How many messages have each status' })
      .describe('The progress of the batch, at most 5 seconds old'),
    parts: Count.describe('SMS parts of the messages created so far'),
    cost: SmsCostSum.describe(
      'The price of all messages created so far. A message without a price adds nothing',
    ),
    expanding: z.boolean().describe('true while messages are still to be created from rows'),
    pausedReason: PausedReason.nullable().describe(
      'Why the batch is paused; null if it is not paused. insufficient_balance: the balance is too low for more messages; limit_reached: the limit of the key is used up; sending_blocked: the operator has stopped sending; key_revoked: the key of the batch was deleted or has expired',
    ),
    clientReference: ownReference,
    clientTag: ownTag,
    createdAt: CreatedAt,
    scheduledAt: Timestamp.nullable().describe('When the batch is to begin; null: at once'),
    startedAt: Timestamp.nullable().describe('When its first messages were created'),
    completedAt: Timestamp.nullable().describe('When the batch was completed'),
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'SmsBatch', description: 'A batch of texts: its progress, and the status of its messages' });
export type SmsBatch = z.infer<typeof SmsBatch>;

export const SmsBatchPage = pageOf(SmsBatch, 'SmsBatchPage');

const SmsBatchRowError = z
  .object({
    index: z.int32().min(0).describe('The position of the message, counted from 0'),
    error: z.string().describe('The fault of the message'),
  })
  .meta({ id: 'SmsBatchRowError', description: 'A row that was refused' });

export const CreatedSmsBatch = SmsBatch.extend({
  errors: z.array(SmsBatchRowError).describe('Messages that were refused: the first 1,000'),
  errorCount: Count.describe('How many messages were refused'),
}).meta({ id: 'CreatedSmsBatch', description: 'The new batch, with the rows that were refused' });
export type CreatedSmsBatch = z.infer<typeof CreatedSmsBatch>;

const sender = text({ min: 1, max: 40 }).nullish();
const content = text({ min: 1, max: 5_000, multiline: true }).nullish();
const data = JsonObject.nullish();
const clientReference = text({ max: 64 }).nullish();

const mostBatchMessages = 10_000;

export const BatchMessage = z
  .object({
    // The limit is wide, so that a recipient that is no number is an error of its row and does not refuse the whole
    // batch.
    recipient: text({ max: 5_000, multiline: true }).meta({
      description:
        'A number in any common format; without a country code it is a UK number. A row with an invalid number is in errors',
      example: '+447700900123',
    }),
    data: data.describe(
      'Values that Liquid merges into the content; they replace values of the batch with the same name',
    ),
    content: content.describe('Liquid source; replaces the content of the batch'),
    sender: sender.describe('Replaces the sender of the batch'),
    clientReference: clientReference.describe('Your own reference; the message and its events have it'),
    unicode: UnicodeRule.describe('Replaces unicode of the batch'),
  })
  .meta({
    id: 'NewSmsBatchMessage',
    description: 'One text of a batch; its own fields replace those of the batch',
  });
export type BatchMessage = z.infer<typeof BatchMessage>;

export const NewSmsBatch = z
  .object({
    messages: z
      .array(BatchMessage)
      .min(1)
      .max(mostBatchMessages)
      .nullish()
      .describe('Provide exactly one of messages and listIds'),
    listIds: z
      .array(NamedId('list'))
      .min(1)
      .max(20)
      .nullish()
      .describe('Contact lists. Each member gets one message; needs the scope lists.read'),
    excludeLists: z
      .array(NamedId('list'))
      .max(20)
      .nullish()
      .describe('Contact lists whose members get no message; only with listIds'),
    sender: sender.meta({
      description:
        'A sender that is approved for the countries of the recipients; default: the sender of the workspace',
      example: 'Acme',
    }),
    content: content.meta({
      description: 'Liquid source; provide at most one of content and template',
      example: 'Dear {{ name }}, your parcel is here.',
    }),
    template: z
      .object({
        name: text({ min: 1, max: 64 }).meta({
          description: 'The name of a stored template',
          example: 'Appointment reminder',
        }),
        data: data.meta({ description: 'Values for all messages', example: { day: 'Monday' } }),
      })
      .nullish()
      .describe('The name of a stored template, and values that Liquid merges into each message'),
    data: data.describe('Values that Liquid merges into each message; only with content'),
    unicode: UnicodeRule,
    scheduledAt: Moment.nullish().describe(
      'When to send it: more than 5 minutes and less than 3 months ahead',
    ),
    clientReference: clientReference.describe(
      'Your own reference of the batch; each message may have its own reference',
    ),
    clientTag: text({ max: 64 })
      .nullish()
      .describe(
        'Your own tag of the batch and its messages, stored in lower case. Each character that is not a letter or digit of any script becomes a hyphen',
      ),
    shortenLinks: z
      .boolean()
      .nullish()
      .describe(
        'true replaces each http(s) URL of a message by its own short link, whose clicks are counted. A text may have at most 10 such URLs, of at most 2,048 characters each',
      ),
    allowDuplicates: z
      .boolean()
      .nullish()
      .describe(
        'true allows a number more than once in messages. Otherwise each repeated number is an error of its row',
      ),
  })
  .meta({
    id: 'NewSmsBatch',
    description: 'Texts to many recipients: to numbers, each with its own data, or to contact lists',
  });
export type NewSmsBatch = z.infer<typeof NewSmsBatch>;

const header = text({ min: 1, max: 256 });

export const NewSmsImport = NewSmsBatch.omit({ messages: true, listIds: true, excludeLists: true })
  .extend({
    columns: z
      .object({
        recipient: header.optional().describe('The column of the numbers'),
        clientReference: header
          .optional()
          .describe('The column of your own references; each message has its reference'),
        sender: header.optional().describe('The column of senders; each replaces the sender of the batch'),
        content: header.optional().describe('The column of texts; each replaces the content of the batch'),
      })
      .nullish()
      .meta({
        description:
          'The headers of the columns in the file. Without recipient, the numbers are in the first column named recipient, number, phone, mobile or msisdn, in upper or lower case',
        example: { recipient: 'Mobile', clientReference: 'Id' },
      }),
  })
  .meta({ id: 'NewSmsImport', description: 'The settings of a batch whose messages are rows of a file' });
export type NewSmsImport = z.infer<typeof NewSmsImport>;

export const SmsBatchFilter = z.object({
  status: SmsBatchStatus.optional().meta({ param: { description: 'Batches that have this status now' } }),
  clientReference: text({ max: 64 }).optional().describe('The clientReference of the batch, as you gave it'),
  clientTag: tagFilter('The clientTag of the batch, in upper or lower case'),
  ...messagePageQuery,
});
export type SmsBatchFilter = z.infer<typeof SmsBatchFilter>;

const Sample = z
  .object({
    recipient: z.string().describe('The number, in E.164'),
    content: z.string().describe('The text as it would be sent'),
    parts: z.int32().min(1).describe('How many SMS parts the text has'),
    encoding: SmsEncoding,
  })
  .meta({ id: 'SmsBatchSample', description: 'A text of the batch as it would be sent' });

export const SmsBatchPreview = z
  .object({
    recipients: Count.describe('How many messages would be created, one for each row or number'),
    suppressed: Count.describe('How many of them would fail because their number is suppressed'),
    estimated: z
      .boolean()
      .describe(
        'true if not all recipients were examined, because there are more than 10,000 of them or it would have taken too long. The counts are then estimates from the examined part; errorCount and errors are not',
      ),
    parts: Count.describe('SMS parts of the messages that would be sent'),
    cost: SmsCost.describe('The price of all messages that would be sent; null if one of them has no price'),
    encodings: z
      .object({
        gsm7: Count.describe('Messages in the GSM alphabet'),
        ucs2: Count.describe('Messages in UCS-2'),
      })
      .meta({
        id: 'SmsBatchEncodings',
        description: 'How many messages have each encoding',
      })
      .describe('How many of the messages that would be sent have each encoding'),
    errors: z
      .array(SmsBatchRowError)
      .describe(
        'The messages that would be refused, and the messages that would fail because of their data, sender or country: the first 1,000. With lists, index is the position among the recipients',
      ),
    errorCount: Count.describe('How many such messages there are'),
    samples: z
      .array(Sample)
      .nullable()
      .describe(
        'The first three messages that would be sent; null without the scopes content.read and recipients.read',
      ),
  })
  .meta({ id: 'SmsBatchPreview', description: 'The messages and the price of the batch; nothing is stored' });
export type SmsBatchPreview = z.infer<typeof SmsBatchPreview>;
