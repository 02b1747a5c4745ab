import { z } from 'zod';
import { text } from '../fields.ts';
import { SmsCost, SmsEncoding } from './parts.ts';

export const SmsToPreview = z
  .object({
    content: text({ min: 1, max: 5_000, multiline: true }).meta({
      description: 'The text as it would be sent; Liquid is not rendered',
      example: 'Your parcel is here.',
    }),
    recipient: text({ min: 1, max: 40 }).nullish().meta({
      description:
        'A number in any common format; without a country code it is a UK number. With a recipient, the answer has the cost for its country',
      example: '+447700900123',
    }),
    shortenLinks: z
      .boolean()
      .nullish()
      .describe('true counts the parts with short links in place of URLs, as POST /v2/sms sends them'),
  })
  .meta({ id: 'SmsToPreview', description: 'A text whose parts are to be counted' });
export type SmsToPreview = z.infer<typeof SmsToPreview>;

export const SmsPreview = z
  .object({
    parts: z.int32().min(1).describe('How many SMS parts the text has'),
    encoding: SmsEncoding,
    tooManyParts: z
      .boolean()
      .describe(
        'true if the text has more parts than the workspace allows (smsPartsAtMost): it would be refused',
      ),
    cost: SmsCost.optional().describe('The price; only with a recipient'),
  })
  .meta({ id: 'SmsPreview', description: 'The parts and the price of a text; nothing is sent' });
export type SmsPreview = z.infer<typeof SmsPreview>;
