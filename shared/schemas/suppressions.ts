import { z } from 'zod';
import { CreatedAt, Id, pageOf, pageQuery, text } from './fields.ts';

export const SuppressionScope = z
  .enum(['all', 'marketing'])
  .describe(
    'all: the address gets no emails; marketing: it gets no marketing emails. A suppressed number gets no texts',
  );
export type SuppressionScope = z.infer<typeof SuppressionScope>;

export const SuppressionSource = z
  .enum(['api', 'web', 'stop', 'bounce', 'complaint', 'system'])
  .describe(
    'api: the API or a dashboard; web: the opt-out link; stop: the recipient sent a text with STOP; bounce: a hard bounce; complaint: a spam complaint (of scope marketing if nothing proves the origin of the complaint); system: the service itself',
  );
export type SuppressionSource = z.infer<typeof SuppressionSource>;

export const Suppression = z
  .object({
    id: Id('suppression'),
    number: z.string().nullable().describe('The number, in E.164; null for an email suppression'),
    email: z.string().nullable().describe('The address; null for a phone suppression'),
    scope: SuppressionScope,
    source: SuppressionSource,
    reason: z.string().nullable().describe('The reason, in words'),
    createdAt: CreatedAt,
  })
  .meta({ id: 'Suppression', description: 'A number or an address that gets no messages' });
export type Suppression = z.infer<typeof Suppression>;

export const SuppressionPage = pageOf(Suppression, 'SuppressionPage');

const number = text({ max: 40 }).meta({
  description: 'A number in any common format; without a country code it is a UK number',
  example: '07700 900123',
});
const email = text({ max: 320 }).meta({
  description: 'An email address; upper and lower case are the same',
  example: 'ada@example.com',
});

export const NewSuppression = z
  .object({
    number: number.nullish(),
    email: email.nullish(),
    scope: SuppressionScope.nullish().describe('The scope for an address; default all'),
    reason: text({ max: 256 }).nullish().describe('The reason, as a note for yourself'),
  })
  .meta({ id: 'NewSuppression', description: 'A new suppression: exactly one of number and email' });
export type NewSuppression = z.infer<typeof NewSuppression>;

export const SuppressionFilter = z.object({
  number: number.optional().meta({ param: { description: 'The suppression of this number' } }),
  email: email.optional().meta({ param: { description: 'Suppressions of this address' } }),
  scope: SuppressionScope.optional().meta({ param: { description: 'Suppressions of this scope' } }),
  source: SuppressionSource.optional().meta({ param: { description: 'Suppressions with this source' } }),
  ...pageQuery,
});
export type SuppressionFilter = z.infer<typeof SuppressionFilter>;
