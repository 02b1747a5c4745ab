import { z } from 'zod';
import { CreatedAt, change, Id, pageOf, pageQuery, text } from './fields.ts';

export const SenderKind = z
  .enum(['sender_name', 'virtual_number'])
  .describe(
    'sender_name: an alphanumeric name, or a UK mobile number; virtual_number: a number of the workspace that takes replies',
  );
export type SenderKind = z.infer<typeof SenderKind>;

export const SenderStatus = z
  .enum(['pending', 'approved', 'rejected', 'awaiting_verification', 'awaiting_business_verification'])
  .describe(
    'approved: as soon as it is for one country; rejected: it is for all of them; awaiting_verification: the code that was texted to the mobile number is to be given back; awaiting_business_verification: held until the business profile is verified; pending: a reviewer looks at it',
  );
export type SenderStatus = z.infer<typeof SenderStatus>;

export const SenderCountryStatus = z
  .enum(['pending', 'approved', 'rejected'])
  .describe('pending: a reviewer looks at it; approved: it may send there; rejected: it may not, see reason');
export type SenderCountryStatus = z.infer<typeof SenderCountryStatus>;

const SenderCountry = z
  .object({
    country: z.string().meta({ description: 'ISO 3166-1 alpha-2', example: 'GB' }),
    status: SenderCountryStatus,
    reason: z
      .string()
      .optional()
      .describe('Why it was rejected, or what an approved one still needs; left out where there is none'),
  })
  .meta({ id: 'SenderCountry', description: 'What the review of a sender came to for one country' });

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
    countries: z.array(SenderCountry).describe('Where it is to be sent from, by country'),
    default: z.boolean().describe('Messages that name no sender come from it'),
    sampleContent: z.string().nullable().describe('A message as it will be sent'),
    businessProfileId: Id('profile').nullable(),
    createdAt: CreatedAt,
  })
  .meta({ id: 'Sender', description: 'What texts come from: a name, a mobile number or a virtual number' });
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
        '3 to 11 letters, digits, underscores or spaces, or a UK mobile number starting 07, which a name of digits only must be. Surrounding spaces are ignored, and two names that differ only in case are the same',
      example: 'Acme',
    }),
    sampleContent: text({ min: 20, max: 256, multiline: true, blank: false }).meta({
      description: 'A message as it will be sent; the reviewer sees it',
      example: 'Your parcel arrives today between 10:00 and 11:00.',
    }),
    countries: z
      .array(text({ min: 2, max: 2 }).meta({ example: 'GB' }))
      .min(1)
      .max(300)
      .nullish()
      .describe('ISO 3166-1 alpha-2; default the country of the workspace'),
    businessProfileId: Id('profile')
      .nullish()
      .describe('Leave it out for the business of the workspace itself; not used for a mobile number'),
  })
  .meta({ id: 'NewSender', description: 'A sender that the workspace asks for' });
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
      'Messages that name no sender come from it; the former default stays a sender',
    ),
  })
  .meta({ id: 'SenderChanges', description: 'What is to change of a sender' });
export type SenderChanges = z.infer<typeof SenderChanges>;

export const SenderVerification = z
  .object({
    code: z
      .string()
      .regex(/^[0-9]{6}$/, 'must be the six digits of the code that was texted')
      .meta({ description: 'The six digits that were texted', example: '123456' }),
  })
  .meta({ id: 'SenderVerification', description: 'The code that was texted to the mobile number' });
export type SenderVerification = z.infer<typeof SenderVerification>;

export const SenderCheckQuery = z.object({
  name: text({ max: 256 }).meta({ description: 'The name that you think of', example: 'Acme' }),
});

export const SenderCheck = z
  .object({
    name: z.string().describe('As it would be stored; as it was given where it cannot be one'),
    kind: z
      .enum(['name', 'mobile'])
      .nullable()
      .describe('name: reviewed before it is approved; mobile: verified by a code; null: it can be neither'),
    acceptable: z.boolean().describe('Whether a request for it would be accepted at present'),
    reasons: z.array(z.string()).describe('Why not; empty where it would be'),
    existing: Sender.nullable().describe('The sender of this name, where the workspace has one'),
  })
  .meta({
    id: 'SenderCheck',
    description: 'Whether a name can be asked for, and what the workspace has of it',
  });
export type SenderCheck = z.infer<typeof SenderCheck>;
