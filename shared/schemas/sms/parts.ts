import { z } from 'zod';

export const SmsEncoding = z
  .enum(['gsm7', 'ucs2'])
  .describe(
    'gsm7: 160 characters in a single part, 153 in each of several parts; ucs2: 70 in a single part, 67 in each of several parts',
  );
export type SmsEncoding = z.infer<typeof SmsEncoding>;

export const UnicodeRule = z
  .enum(['allow', 'deny', 'strip'])
  .nullish()
  .describe(
    'How to treat characters outside the GSM alphabet. allow (the default): send them; deny: refuse the text; strip: replace them by similar characters of the GSM alphabet',
  );

const Amount = z.string().regex(/^\d+\.\d{4}$/);

export const SmsCost = z
  .object({
    gbp: Amount.nullable().meta({
      description: 'Pounds, with four decimals; null if there is no price',
      example: '0.0690',
    }),
    eur: Amount.nullable().meta({
      description: 'Euros, with four decimals; null if there is no price',
      example: '0.0780',
    }),
  })
  .meta({ id: 'SmsCost', description: 'The price of all parts together' });
export type SmsCost = z.infer<typeof SmsCost>;

export const SmsCostSum = z
  .object({
    gbp: Amount.meta({ description: 'Pounds, with four decimals', example: '34.5000' }),
    eur: Amount.meta({ description: 'Euros, with four decimals', example: '39.0000' }),
  })
  .meta({
    id: 'SmsCostSum',
    description: 'The sum of the messages that have a price; 0.0000 while there are none',
  });
