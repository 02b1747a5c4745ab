import { z } from 'zod';
import { CreatedAt, Id, Timestamp } from './fields.ts';
import { ReportBound, ReportCost } from './reports.ts';

const Money = z
  .object({ gbp: z.string().describe('Pounds, with four decimals') })
  .meta({ id: 'Pounds', example: { gbp: '12.3400' }, description: 'An amount, as a text of four decimals' });

export const Workspace = z
  .object({
    id: Id('workspace'),
    name: z.string().describe('What the operator calls it'),
    country: z.string().meta({ description: 'ISO 3166-1 alpha-2', example: 'GB' }),
    createdAt: CreatedAt,
    sendingBlocked: z.boolean().describe('The operator has stopped its sending'),
    v2WebhooksEnabled: z.boolean().describe('Whether it may have webhooks of this version'),
    alertEmail: z.string().nullable().describe('Where warnings about webhooks go'),
    defaultSender: z
      .object({ id: Id('sender'), name: z.string().nullable().describe('A name, or a number') })
      .nullable()
      .describe('What texts come from that name no sender'),
    balance: Money.nullable().describe('Left for texts; null: without limit'),
    emailLimit: z
      .object({
        count: z.int32().min(1).describe('How many emails'),
        per: z.enum(['minute', 'hour', 'day']).describe('In how long'),
      })
      .nullable()
      .describe('Emails beyond it wait for their turn; of several limits the strictest'),
    smsPartsAtMost: z.int32().min(1).describe('Parts that one text may have'),
    retention: z
      .object({
        eventsDays: z.number().describe('Events'),
        emailDays: z.number().describe('Emails'),
        smsDays: z.number().describe('Texts'),
      })
      .describe('How many days events and messages are kept'),
    webhookAddresses: z.array(z.string()).meta({
      description: 'IP addresses that deliveries come from; empty: they are not fixed',
      example: ['192.0.2.7'],
    }),
  })
  .meta({ id: 'Workspace', description: 'The settings, limits and balance of the workspace' });
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
  messages: z.int().min(0).describe('Texts'),
  parts: z.int().min(0).describe('Their parts'),
  cost: ReportCost.describe('Their price'),
};

export const Spend = z
  .object({
    from: Timestamp.describe('The first hour that is counted'),
    to: Timestamp.describe('The first that is counted no more'),
    total: z
      .object(spend)
      .describe(
        'Texts that were accepted in this time and are paid for, or would be: not held ones, nor those whose price was given back',
      ),
    byCountry: z
      .array(
        z.object({
          country: z.string().nullable().describe('ISO 3166-1 alpha-2; null where the number does not tell'),
          ...spend,
        }),
      )
      .describe('Most pounds first; the first 1,000, as below'),
    byKey: z
      .array(
        z.object({
          keyId: Id('key').nullable().describe('The first of a key with its rotations'),
          ...spend,
        }),
      )
      .describe('Most pounds first; the first 1,000'),
    byClientTag: z
      .array(
        z.object({
          clientTag: z.string().nullable().describe('null: texts without one'),
          ...spend,
        }),
      )
      .describe('Most pounds first; the first 1,000'),
    balance: Money.nullable().describe('As it is now; null: without limit'),
    credits: Money.describe('What was paid in during this time'),
    ledger: z
      .object({
        charges: Money.describe('Below zero'),
        refunds: Money.describe('For texts that were not sent in the end'),
        credits: Money.describe('Paid in by the operator, less what the operator took back'),
        closed: Money.describe('What was left when the balance became unlimited; below zero'),
        carried: Money.describe('Entries of texts that are long gone, put together'),
        change: Money.describe('Of the balance in this time: the sum of the others'),
      })
      .describe('What changed the balance, by when it did'),
  })
  .meta({
    id: 'Spend',
    description: 'What the workspace spent in a time, by country, key and tag, and what changed its balance',
  });
export type Spend = z.infer<typeof Spend>;
