import { z } from 'zod';
import { Id, Moment, Timestamp } from './fields.ts';
import { SmsCost } from './sms-parts.ts';

const Pounds = z
  .string()
  .regex(/^-?\d+\.\d{4}$/)
  .meta({ description: 'Pounds, with four decimals', example: '12.5000' });
const Balance = z
  .object({ gbp: Pounds })
  .nullable()
  .meta({ description: 'What may still be spent on text messages; null: there is no limit' });

export const Workspace = z
  .object({
    id: Id('workspace'),
    name: z.string(),
    country: z.string().meta({ description: 'ISO 3166-1 alpha-2' }),
    createdAt: Timestamp,
    sendingBlocked: z.boolean().meta({ description: 'New messages are refused' }),
    v2WebhooksEnabled: z.boolean(),
    alertEmail: z.string().nullable().meta({ description: 'Where warnings about webhooks and domains go' }),
    defaultSender: z
      .object({ id: Id('sender'), name: z.string() })
      .nullable()
      .meta({ description: 'Of text messages that name none' }),
    balance: Balance,
    emailLimit: z
      .object({ count: z.int32(), per: z.enum(['minute', 'hour', 'day']) })
      .nullable()
      .meta({ description: 'How many emails go out; what is more waits. Of several limits the tightest' }),
    smsPartsAtMost: z.int32().meta({ description: 'Parts that one text message may have' }),
    retention: z
      .object({ eventsDays: z.number(), emailDays: z.number(), smsDays: z.number() })
      .meta({ description: 'How long records are kept' }),
    webhookAddresses: z
      .array(z.string())
      .meta({ description: 'IP addresses that deliveries to webhooks come from; empty where they are not fixed' }),
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.infer<typeof Workspace>;
