import { z } from 'zod';

export const SmsEncoding = z
  .enum(['gsm7', 'ucs2'])
  .describe('gsm7: 160 characters in one part, 153 in each of several; ucs2: 70 and 67');
export type SmsEncoding = z.infer<typeof SmsEncoding>;

export const UnicodeRule = z
  .enum(['allow', 'deny', 'strip'])
  .nullish()
  .describe(
    'What becomes of characters outside the GSM alphabet: they are sent as they are (allow, the default), refused, or replaced by what is like them',
  );

const Amount = z
  .string()
  .regex(/^\d+\.\d{4}$/)
  .nullable();

export const SmsCost = z
  .object({
    gbp: Amount.meta({
      description: 'Pounds, with four decimals; null when there is no price',
      example: '0.0690',
    }),
    eur: Amount.meta({
      description: 'Euros, with four decimals; null when there is no price',
      example: '0.0780',
    }),
  })
  .meta({ id: 'SmsCost', description: 'Of all parts together' });
export type SmsCost = z.infer<typeof SmsCost>;
