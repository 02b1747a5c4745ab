import { z } from 'zod';
import { SmsBatchRowError } from './batches.ts';
import { SmsCost, SmsEncoding } from './parts.ts';

const Count = z.int32().min(0);

const Sample = z
  .object({
    recipient: z.string().describe('E.164'),
    content: z.string().describe('As it would be sent'),
    parts: z.int32().min(1).describe('Messages of the network that it takes'),
    encoding: SmsEncoding,
  })
  .meta({ id: 'SmsBatchSample', description: 'A text of the batch as it would be sent' });

export const SmsBatchPreview = z
  .object({
    recipients: Count.describe('The messages that would be made, each for one row or number'),
    suppressed: Count.describe('How many of them would fail because their number is suppressed'),
    estimated: z
      .boolean()
      .describe(
        'Not everything was looked at, as there are more than 10,000 recipients, or it would have taken too long: the counts are scaled up from those that were. The faults of rows are not',
      ),
    parts: Count.describe('Of the messages that would be sent'),
    cost: SmsCost.describe('The price of the messages that would be sent, all parts together'),
    encodings: z
      .object({
        gsm7: Count.describe('In the GSM alphabet'),
        ucs2: Count.describe('In UCS-2'),
      })
      .meta({
        id: 'SmsBatchEncodings',
        description: 'How many messages have each encoding',
      })
      .describe('Of the messages that would be sent'),
    errors: z
      .array(SmsBatchRowError)
      .describe(
        'The messages that would not be taken, and those that would fail because of their data, sender or country: the first 1,000. Where they come from lists, index is the place among the recipients',
      ),
    errorCount: Count.describe('How many such messages there are'),
    samples: z
      .array(Sample)
      .nullable()
      .describe(
        'The first three messages that would be sent; null without the scopes content.read and recipients.read',
      ),
  })
  .meta({ id: 'SmsBatchPreview', description: 'What the batch would come to; nothing is stored' });
export type SmsBatchPreview = z.infer<typeof SmsBatchPreview>;
