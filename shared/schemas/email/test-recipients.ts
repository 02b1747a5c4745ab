import { z } from 'zod';
import { CreatedAt, Id, pageOf, text } from '../fields.ts';

export const TestRecipient = z
  .object({
    id: Id('testrecipient'),
    email: z.string().describe('The address'),
    verified: z
      .boolean()
      .describe(
        'true after the owner of the address has opened the confirmation link; before that, the test sender cannot send to it',
      ),
    createdAt: CreatedAt,
  })
  .meta({
    id: 'EmailTestRecipient',
    description: 'An address that the shared test sender may send to, after it is verified',
  });
export type TestRecipient = z.infer<typeof TestRecipient>;

export const TestRecipientPage = pageOf(TestRecipient, 'EmailTestRecipientPage');

export const NewTestRecipient = z
  .object({
    email: text({ min: 1, max: 256 }).meta({
      description: 'The address; a confirmation link is sent to it',
      example: 'ada@example.com',
    }),
  })
  .meta({
    id: 'NewEmailTestRecipient',
    description: 'An address whose owner must confirm that it may get test emails',
  });
export type NewTestRecipient = z.infer<typeof NewTestRecipient>;
