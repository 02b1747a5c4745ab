import { z } from 'zod';
import { CreatedAt, Id, pageOf, pageQuery, text } from './fields.ts';

export const SuppressionScope = z
  .enum(['all', 'marketing'])
  .describe('What a suppressed address is not sent; a number is not sent anything');
export type SuppressionScope = z.infer<typeof SuppressionScope>;

export const SuppressionSource = z
  .enum(['api', 'web', 'stop', 'bounce', 'complaint', 'system'])
  .describe(
    'api: API or dashboard; web: opt-out link; stop: the recipient texted STOP; bounce: hard bounce; complaint: spam complaint (of scope marketing where nothing proves whose it is); system: the service',
  );
export type SuppressionSource = z.infer<typeof SuppressionSource>;

export const Suppression = z
  .object({
    id: Id('suppression'),
    number: z.string().nullable().describe('E.164; null for an email suppression'),
    email: z.string().nullable().describe('null for a phone suppression'),
    scope: SuppressionScope,
    source: SuppressionSource,
    reason: z.string().nullable().describe('Why, in words'),
    createdAt: CreatedAt,
  })
  .meta({ id: 'Suppression', description: 'A number or an address that is not sent to' });
export type Suppression = z.infer<typeof Suppression>;

export const SuppressionPage = pageOf(Suppression, 'SuppressionPage');

const number = text({ max: 40 }).meta({
  description: 'Any common format; a number without a country code is of the UK',
  example: '07700 900123',
});
const email = text({ max: 320 }).meta({
  description: 'An address, whatever its case',
  example: 'ada@example.com',
});

export const NewSuppression = z
  .object({
    number: number.nullish(),
    email: email.nullish(),
    scope: SuppressionScope.nullish().describe('For an address; default all'),
    reason: text({ max: 256 }).nullish().describe('Why, for yourself'),
  })
  .meta({ id: 'NewSuppression', description: 'Exactly one of number and email' });
export type NewSuppression = z.infer<typeof NewSuppression>;

export const SuppressionFilter = z.object({
  number: number.optional().meta({ param: { description: 'The suppression of this number' } }),
  email: email.optional().meta({ param: { description: 'Suppressions of this address' } }),
  scope: SuppressionScope.optional().meta({ param: { description: 'Suppressions of this scope' } }),
  source: SuppressionSource.optional().meta({ param: { description: 'Suppressions that came about so' } }),
  ...pageQuery,
});
export type SuppressionFilter = z.infer<typeof SuppressionFilter>;
