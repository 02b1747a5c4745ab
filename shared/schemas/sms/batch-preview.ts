import { z } from 'zod';
import { SmsBatchRowError } from './batches.ts';
import { SmsCost, SmsEncoding } from './parts.ts';

const Count = z.int32().min(0);

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
