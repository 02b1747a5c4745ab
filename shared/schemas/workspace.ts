import { z } from 'zod';
import { CreatedAt, Id, Timestamp } from './fields.ts';
import { ReportBound, ReportCost } from './reports.ts';

const Money = z
  .object({ gbp: z.string().meta({ description: 'Pounds, with four decimals' }) })
  .meta({ id: 'Pounds', example: { gbp: '12.3400' } });

export const Workspace = z
  .object({
    id: Id('workspace'),
    name: z.string().meta({ description: 'What the operator calls it' }),
    country: z.string().meta({ description: 'ISO 3166-1 alpha-2', example: 'GB' }),
    createdAt: CreatedAt,
    sendingBlocked: z.boolean().meta({ description: 'The operator has stopped its sending' }),
    v2WebhooksEnabled: z.boolean().meta({ description: 'Whether it may have webhooks of this version' }),
    alertEmail: z.string().nullable().meta({ description: 'Where warnings about webhooks go' }),
    defaultSender: z
      .object({ id: Id('sender'), name: z.string().nullable().meta({ description: 'A name, or a number' }) })
      .nullable()
      .meta({ description: 'What texts come from that name no sender' }),
    balance: Money.nullable().meta({ description: 'Left for texts; null: without limit' }),
    emailLimit: z
      .object({
        count: z.int32().min(1).meta({ description: 'How many emails' }),
        per: z.enum(['minute', 'hour', 'day']).meta({ description: 'In how long' }),
      })
      .nullable()
      .meta({ description: 'Emails beyond it wait for their turn; of several limits the strictest' }),
    smsPartsAtMost: z.int32().min(1).meta({ description: 'Parts that one text may have' }),
    retention: z
      .object({
        eventsDays: z.number().meta({ description: 'Events' }),
        emailDays: z.number().meta({ description: 'Emails' }),
        smsDays: z.number().meta({ description: 'Texts' }),
      })
      .meta({ description: 'How many days events and messages are kept' }),
    webhookAddresses: z.array(z.string()).meta({
      description: 'IP addresses that deliveries come from; empty: they are not fixed',
      example: ['192.0.2.7'],
    }),
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.infer<typeof Workspace>;

export const SpendQuery = z.object({
  month: z
    .string()
    .regex(/^(?:19[7-9]\d|[2-8]\d{3})-(?:0[1-9]|1[0-2])$/, 'must be a month such as 2026-11')
    .optional()
    .meta({ description: 'A month in UTC; default this one. Not with from or to', example: '2026-11' }),
  from: ReportBound.optional().meta({
    description:
      'A date in UTC or RFC 3339 with any offset, rounded down to the hour; default 30 days before to',
    example: '2026-11-01',
  }),
  to: ReportBound.optional().meta({
    description: 'Up to then; at most 400 days later. Default the end of this hour',
    example: '2026-12-01',
  }),
});
export type SpendQuery = z.infer<typeof SpendQuery>;

const spend = {
  messages: z.int().min(0).meta({ description: 'Texts' }),
  parts: z.int().min(0).meta({ description: 'Their parts' }),
  cost: ReportCost.meta({ description: 'Their price' }),
};

export const Spend = z
  .object({
    from: Timestamp.meta({ description: 'The first hour that is counted' }),
    to: Timestamp.meta({ description: 'The first that is counted no more' }),
    total: z.object(spend).meta({
      description:
        'Texts that were accepted in this time and are paid for, or would be: not held ones, nor those whose price was given back',
    }),
    byCountry: z
      .array(
        z.object({
          country: z
            .string()
            .nullable()
            .meta({ description: 'ISO 3166-1 alpha-2; null where the number does not tell' }),
          ...spend,
        }),
      )
      .meta({ description: 'Most pounds first; the first 1,000, as below' }),
    byKey: z
      .array(
        z.object({
          keyId: Id('key').nullable().meta({ description: 'The first of a key with its rotations' }),
          ...spend,
        }),
      )
      .meta({ description: 'Most pounds first; the first 1,000' }),
    byClientTag: z
      .array(
        z.object({
          clientTag: z.string().nullable().meta({ description: 'null: texts without one' }),
          ...spend,
        }),
      )
      .meta({ description: 'Most pounds first; the first 1,000' }),
    balance: Money.nullable().meta({ description: 'As it is now; null: without limit' }),
    credits: Money.meta({ description: 'What was paid in during this time' }),
    ledger: z
      .object({
        charges: Money.meta({ description: 'Below zero' }),
        refunds: Money.meta({ description: 'For texts that were not sent in the end' }),
        credits: Money.meta({ description: 'Paid in by the operator, less what the operator took back' }),
        closed: Money.meta({ description: 'What was left when the balance became unlimited; below zero' }),
        carried: Money.meta({ description: 'Entries of texts that are long gone, put together' }),
        change: Money.meta({ description: 'Of the balance in this time: the sum of the others' }),
      })
      .meta({ description: 'What changed the balance, by when it did' }),
  })
  .meta({ id: 'Spend' });
export type Spend = z.infer<typeof Spend>;
