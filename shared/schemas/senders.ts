import { z } from 'zod';
import { CreatedAt, change, Id, NamedId, pageOf, pageQuery, text } from './fields.ts';

export const SenderKind = z
  .enum(['sender_name', 'virtual_number'])
  .describe(
    'sender_name: an alphanumeric name, or a UK mobile number; virtual_number: a number of the workspace that takes replies',
  );
export type SenderKind = z.infer<typeof SenderKind>;

export const SenderStatus = z
  .enum(['pending', 'approved', 'rejected', 'awaiting_verification', 'awaiting_business_verification'])
  .describe(
    'approved: approved for at least one country; rejected: rejected for all countries; awaiting_verification: send the code that the mobile number got by text; awaiting_business_verification: waits until the business profile is verified; pending: waits for a reviewer',
  );
export type SenderStatus = z.infer<typeof SenderStatus>;

export const SenderCountryStatus = z
  .enum(['pending', 'approved', 'rejected'])
  .describe(
    'pending: waits for a reviewer; approved: the sender may send to this country; rejected: it may not, see reason',
  );
export type SenderCountryStatus = z.infer<typeof SenderCountryStatus>;

const SenderCountry = z
  .object({
    country: z.string().meta({ description: 'ISO 3166-1 alpha-2', example: 'GB' }),
    status: SenderCountryStatus,
    reason: z
      .string()
      .optional()
      .describe(
        'Why the sender was rejected, or what an approved sender still needs; left out if there is no reason',
      ),
  })
  .meta({ id: 'SenderCountry', description: 'The result of the review of a sender for one country' });

/** The name of a virtual number until it has one. */
export const unassignedName = 'Not yet assigned';

export const Sender = z
  .object({
    id: Id('sender'),
    kind: SenderKind,
    name: z.string().meta({
      description: `The name, a UK mobile number in 07 format, or a virtual number in E.164; "${unassignedName}" for a virtual number that has none yet`,
      example: 'Acme',
    }),
    status: SenderStatus,
    countries: z.array(SenderCountry).describe('The countries that the sender is for, each with its status'),
    default: z.boolean().describe('true: texts that name no sender come from this sender'),
    sampleContent: z.string().nullable().describe('An example of a message that will be sent'),
    businessProfileId: Id('profile').nullable(),
    createdAt: CreatedAt,
  })
  .meta({ id: 'Sender', description: 'A sender of texts: a name, a mobile number or a virtual number' });
export type Sender = z.infer<typeof Sender>;

export const SenderPage = pageOf(Sender, 'SenderPage');

export const SenderFilter = z.object({
  status: SenderStatus.optional().meta({ param: { description: 'Senders that have this status now' } }),
  ...pageQuery,
});
export type SenderFilter = z.infer<typeof SenderFilter>;

export const NewSender = z
  .object({
    // The limit is wide, because surrounding spaces are removed.
    name: text({ min: 3, max: 256 }).meta({
      description:
        '3 to 11 letters, digits, underscores or spaces, or a UK mobile number that starts with 07. A name that has only digits must be such a number. Spaces around the name are ignored, and two names that differ only in upper and lower case are the same',
      example: 'Acme',
    }),
    sampleContent: text({ min: 20, max: 256, multiline: true, blank: false }).meta({
      description: 'An example of a message that will be sent; the reviewer reads it',
      example: 'Your parcel arrives today between 10:00 and 11:00.',
    }),
    countries: z
      .array(text({ min: 2, max: 2 }).meta({ example: 'GB' }))
      .min(1)
      .max(300)
      .nullish()
      .describe('ISO 3166-1 alpha-2; default: the country of the workspace'),
    // Its form is checked only where it is used.
    businessProfileId: NamedId('profile')
      .nullish()
      .describe(
        'The business that uses the sender. Leave it out for the business of the workspace itself; it is not used for a mobile number',
      ),
  })
  .meta({ id: 'NewSender', description: 'A request for a new sender' });
export type NewSender = z.infer<typeof NewSender>;

export const SenderChanges = z
  .object({
    default: change(
      'refused',
      z.literal(true, {
        error: ({ input }) =>
          input === null
            ? 'must not be null'
            : 'must be true; to change the default, set it on another sender',
      }),
      'true makes this sender the default: texts that name no sender come from it. The previous default stays a sender',
    ),
  })
  .meta({ id: 'SenderChanges', description: 'The changes of a sender' });
export type SenderChanges = z.infer<typeof SenderChanges>;

export const SenderVerification = z
  .object({
    code: z
      .string()
      .regex(/^[0-9]{6}$/, 'must be the six digits of the code that was texted')
      .meta({ description: 'The six digits that were sent by text', example: '123456' }),
  })
  .meta({ id: 'SenderVerification', description: 'The code that was sent by text to the mobile number' });
export type SenderVerification = z.infer<typeof SenderVerification>;

export const SenderCheckQuery = z.object({
  name: text({ max: 256 }).meta({ description: 'The name to check', example: 'Acme' }),
});

export const SenderCheck = z
  .object({
    name: z
      .string()
      .describe('The name as it would be stored; if it cannot be a sender, the name as you gave it'),
    kind: z
      .enum(['name', 'mobile'])
      .nullable()
      .describe('name: a reviewer must approve it; mobile: a code verifies it; null: it cannot be a sender'),
    acceptable: z.boolean().describe('Whether a request for this sender would be accepted now'),
    reasons: z.array(z.string()).describe('Why it would not be accepted; empty if it would be accepted'),
    existing: Sender.nullable().describe('The sender of this name; null if the workspace has none'),
  })
  .meta({
    id: 'SenderCheck',
    description: 'Whether you can request a name, and the sender of this name if the workspace has one',
  });
export type SenderCheck = z.infer<typeof SenderCheck>;
