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
        'Any common format, UK without a country code. With it comes the cost for that destination.',
      example: '+447700900123',
    }),
    shortenLinks: z
      .boolean()
      .nullish()
      .describe('Parts are counted with short links, as POST /v2/sms makes them'),
  })
  .meta({ id: 'SmsToPreview', description: 'A text to be counted' });
export type SmsToPreview = z.infer<typeof SmsToPreview>;

export const SmsPreview = z
  .object({
    parts: z.int32().min(1).describe('Messages of the network that it takes'),
    encoding: SmsEncoding,
    tooManyParts: z
      .boolean()
      .describe('More than a text may have (smsPartsAtMost of the workspace): it would be refused'),
    cost: SmsCost.optional().describe('Only with a recipient'),
  })
  .meta({ id: 'SmsPreview', description: 'What a text would come to; nothing is sent' });
export type SmsPreview = z.infer<typeof SmsPreview>;
