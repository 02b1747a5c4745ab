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
import { SmsCost, UnicodeRule } from './parts.ts';

export const SmsBatchStatus = z
  .enum(['scheduled', 'processing', 'paused', 'completed', 'cancelled'])
  .describe(
    'scheduled: begins at scheduledAt; processing: its messages are made and sent; paused: see pausedReason; completed: every message has come to its end, or has not been reported within 72 hours',
  );
export type SmsBatchStatus = z.infer<typeof SmsBatchStatus>;

export const PausedReason = z
  .enum(['insufficient_balance', 'limit_reached', 'sending_blocked', 'key_revoked'])
  .describe(
    'insufficient_balance: the balance does not pay for more; limit_reached: the limit of the key is used up; sending_blocked: the operator has stopped sending; key_revoked: the key of the batch is gone',
  );
export type PausedReason = z.infer<typeof PausedReason>;

const Count = z.int32().min(0);

export const SmsBatch = z
  .object({
    id: Id('batch'),
    status: SmsBatchStatus,
    counts: z
      .object({
        total: Count.describe('The sum of all others; until expanding is false, of what is known so far'),
        waiting: Count.describe('Rows that are no message yet'),
        queued: Count.describe('Messages that wait to be sent'),
        held: Count.describe('Always 0: a batch that cannot be paid for is paused'),
        sent: Count.describe('Messages that the network has, outcome awaited'),
        delivered: Count.describe('Messages that are on the phone'),
        failed: Count.describe('Messages that will not arrive'),
        cancelled: Count.describe('Messages and rows that were cancelled'),
      })
      .meta({ id: 'SmsBatchCounts', description: 'How many messages have come how far' })
      .describe('How far the batch had come at most 5 seconds ago'),
    parts: Count.describe('Of the messages made so far'),
    cost: SmsCost.describe('The price of the messages made so far, all parts together'),
    expanding: z.boolean().describe('Rows are still to become messages'),
    pausedReason: PausedReason.nullable().describe(
      'Why it is paused; else null. insufficient_balance: the balance does not pay for more; limit_reached: the limit of the key is used up; sending_blocked: the operator has stopped sending; key_revoked: the key of the batch is gone',
    ),
    clientReference: ownReference,
    clientTag: ownTag,
    createdAt: CreatedAt,
    scheduledAt: Timestamp.nullable().describe('When it is to begin; null: at once'),
    startedAt: Timestamp.nullable().describe('When its first messages were made'),
    completedAt: Timestamp.nullable().describe('When every message had come to its end'),
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'SmsBatch', description: 'A batch of texts: how far it is, and what became of its messages' });
export type SmsBatch = z.infer<typeof SmsBatch>;

export const SmsBatchPage = pageOf(SmsBatch, 'SmsBatchPage');

export const SmsBatchRowError = z
  .object({
    index: z.int32().min(0).describe('The place of the message, counting from 0'),
    error: z.string().describe('What is wrong with it'),
  })
  .meta({ id: 'SmsBatchRowError', description: 'A row that was not taken' });

export const CreatedSmsBatch = SmsBatch.extend({
  errors: z.array(SmsBatchRowError).describe('Messages that were not taken: the first 1,000'),
  errorCount: Count.describe('How many messages were not taken'),
}).meta({ id: 'CreatedSmsBatch', description: 'The new batch, with the rows that were not taken' });
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
      description: 'A number in any common format, UK without a country code; another text is in errors',
      example: '+447700900123',
    }),
    data: data.describe('Merged into the content, over the values of the batch'),
    content: content.describe('Liquid, in the place of the content of the batch'),
    sender: sender.describe('In the place of the sender of the batch'),
    clientReference: clientReference.describe('Returned on the message and its events'),
    unicode: UnicodeRule.describe('In the place of unicode of the batch'),
  })
  .meta({
    id: 'NewSmsBatchMessage',
    description: 'One text of a batch; what it says itself wins over the batch',
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
      .describe('Contact lists, whose members get one message each; needs the scope lists.read'),
    excludeLists: z
      .array(NamedId('list'))
      .max(20)
      .nullish()
      .describe('Contact lists whose members get none; goes with listIds'),
    sender: sender.meta({
      description:
        'A sender that is approved for the countries of the recipients; default that of the workspace',
      example: 'Acme',
    }),
    content: content.meta({
      description: 'Liquid; provide at most one of content and template',
      example: 'Dear {{ name }}, your parcel is here.',
    }),
    template: z
      .object({
        name: text({ min: 1, max: 64 }).meta({
          description: 'Of a stored template',
          example: 'Appointment reminder',
        }),
        data: data.meta({ description: 'Values for all messages', example: { day: 'Monday' } }),
      })
      .nullish()
      .describe('name of a stored template, and values that Liquid merges into each message'),
    data: data.describe('Values that Liquid merges into each message; with content'),
    unicode: UnicodeRule,
    scheduledAt: Moment.nullish().describe('More than 5 minutes and less than 3 months ahead'),
    clientReference: clientReference.describe('Of the batch; its messages have their own'),
    clientTag: text({ max: 64 })
      .nullish()
      .describe(
        'Of the batch and its messages; stored in lower case; what is no letter or digit of any script becomes a hyphen',
      ),
    shortenLinks: z
      .boolean()
      .nullish()
      .describe(
        'Each http(s) URL of a message gives way to a short link of its own, whose clicks are counted; at most 10 a text, of at most 2,048 characters each',
      ),
    allowDuplicates: z
      .boolean()
      .nullish()
      .describe('A number may come more than once in messages; else the second one is an error of its row'),
  })
  .meta({
    id: 'NewSmsBatch',
    description: 'Texts to many: to numbers with data of their own, or to contact lists',
  });
export type NewSmsBatch = z.infer<typeof NewSmsBatch>;

const header = text({ min: 1, max: 256 });

export const NewSmsImport = NewSmsBatch.omit({ messages: true, listIds: true, excludeLists: true })
  .extend({
    columns: z
      .object({
        recipient: header.optional().describe('Numbers'),
        clientReference: header.optional().describe('References, returned on each message'),
        sender: header.optional().describe('Senders, in the place of that of the batch'),
        content: header.optional().describe('Texts, in the place of that of the batch'),
      })
      .nullish()
      .meta({
        description:
          'Which columns of the file these are, by their headers. Without recipient it is the first that is called recipient, number, phone, mobile or msisdn, in any case',
        example: { recipient: 'Mobile', clientReference: 'Id' },
      }),
  })
  .meta({ id: 'NewSmsImport', description: 'The settings of a batch whose messages are rows of a file' });
export type NewSmsImport = z.infer<typeof NewSmsImport>;

export const SmsBatchFilter = z.object({
  status: SmsBatchStatus.optional().meta({ param: { description: 'Batches that have this status now' } }),
  clientReference: text({ max: 64 }).optional().describe('Of the batch, as it was given'),
  clientTag: tagFilter('Of the batch, in any case'),
  ...messagePageQuery,
});
export type SmsBatchFilter = z.infer<typeof SmsBatchFilter>;
