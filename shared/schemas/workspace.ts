import { z } from 'zod';
import { CreatedAt, Id, Timestamp } from './fields.ts';
import { ReportBound, ReportCost } from './reports.ts';

const Money = z.object({ gbp: z.string().describe('Pounds, with four decimals') }).meta({
  id: 'Pounds',
  example: { gbp: '12.3400' },
  description: 'An amount in pounds, as a string with four decimals',
});

export const Workspace = z
  .object({
    id: Id('workspace'),
    name: z.string().describe('The name that the operator gave to the workspace'),
    country: z.string().meta({ description: 'ISO 3166-1 alpha-2', example: 'GB' }),
    createdAt: CreatedAt,
    sendingBlocked: z.boolean().describe('true if the operator has stopped all sending of the workspace'),
    v2WebhooksEnabled: z.boolean().describe('Whether the workspace may create webhooks of API v2'),
    alertEmail: z.string().nullable().describe('The address that gets warnings about webhooks and domains'),
    defaultSender: z
      .object({ id: Id('sender'), name: z.string().nullable().describe('A name, or a number') })
      .nullable()
      .describe('The sender of texts that name no sender'),
    balance: Money.nullable().describe('The amount that is left for texts; null: no limit'),
    emailLimit: z
      .object({
        count: z.int32().min(1).describe('The number of emails'),
        per: z
          .enum(['minute', 'hour', 'day'])
          .describe('The time in which that number of emails may be sent'),
      })
      .nullable()
      .describe(
        'The limit of emails: emails above it wait. If there are several limits, it is the strictest one',
      ),
    smsPartsAtMost: z.int32().min(1).describe('How many SMS parts one text may have'),
    retention: z
      .object({
        eventsDays: z.number().describe('Days that events are kept'),
        emailDays: z.number().describe('Days that emails are kept'),
        smsDays: z.number().describe('Days that texts are kept'),
      })
      .describe('How many days events and messages are kept'),
    webhookAddresses: z.array(z.string()).meta({
      description: 'The IP addresses that deliveries of webhooks come from; empty: the addresses may change',
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
    .meta({
      description: 'A month in UTC; default: this month. Not together with from or to',
      example: '2026-11',
    }),
  from: ReportBound.optional().meta({
    description:
      'The beginning of the time: a date in UTC, or RFC 3339 with any offset, rounded down to the hour; default: 30 days before to',
    example: '2026-11-01',
  }),
  to: ReportBound.optional().meta({
    description: 'The end of the time, at most 400 days after from. Default: the end of this hour',
    example: '2026-12-01',
  }),
});
export type SpendQuery = z.infer<typeof SpendQuery>;

const spend = {
  messages: z.int().min(0).describe('How many texts'),
  parts: z.int().min(0).describe('SMS parts of these texts'),
  cost: ReportCost.describe('The price of these texts'),
};

export const Spend = z
  .object({
    from: Timestamp.describe('The first hour that is counted'),
    to: Timestamp.describe('The end of the counted time: the first hour that is not counted'),
    total: z
      .object(spend)
      .describe(
        'Texts that were accepted in this time and are charged, or would be if there were a balance. Held texts and refunded texts are not counted',
      ),
    byCountry: z
      .array(
        z.object({
          country: z
            .string()
            .nullable()
            .describe('ISO 3166-1 alpha-2; null if the number does not show its country'),
          ...spend,
        }),
      )
      .describe('The cost by country, highest price in pounds first: the first 1,000'),
    byKey: z
      .array(
        z.object({
          keyId: Id('key')
            .nullable()
            .describe('The id of the first key, for a key together with its rotations'),
          ...spend,
        }),
      )
      .describe('Most pounds first; the first 1,000'),
    byClientTag: z
      .array(
        z.object({
          clientTag: z.string().nullable().describe('The tag; null: texts without a tag'),
          ...spend,
        }),
      )
      .describe('Most pounds first; the first 1,000'),
    balance: Money.nullable().describe('The balance now; null: no limit'),
    credits: Money.describe('The amount that was paid in during this time'),
    ledger: z
      .object({
        charges: Money.describe('Charges for texts; below zero'),
        refunds: Money.describe('Refunds for texts that were not sent'),
        credits: Money.describe(
          'The amount that the operator paid in, less the amount that the operator took back',
        ),
        closed: Money.describe('The amount that was left when the balance became unlimited; below zero'),
        carried: Money.describe('The sum of entries for texts that are no longer kept'),
        change: Money.describe('The change of the balance in this time: the sum of the other amounts'),
      })
      .describe('The changes of the balance, by the time of the change'),
  })
  .meta({
    id: 'Spend',
    description:
      'The amount that the workspace spent in a time, by country, key and tag, and the changes of its balance',
  });
export type Spend = z.infer<typeof Spend>;
