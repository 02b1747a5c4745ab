import { z } from 'zod';
import { CreatedAt, Id, pageOf, text } from '../fields.ts';

export const TestRecipient = z
  .object({
    id: Id('testrecipient'),
    email: z.string().describe('The address'),
    verified: z
      .boolean()
      .describe('true once the address has followed its confirmation link; it must confirm before use'),
    createdAt: CreatedAt,
  })
  .meta({
    id: 'EmailTestRecipient',
    description: 'An address that the shared test sender reaches, once it is verified',
  });
export type TestRecipient = z.infer<typeof TestRecipient>;

export const TestRecipientPage = pageOf(TestRecipient, 'EmailTestRecipientPage');

export const NewTestRecipient = z
  .object({
    email: text({ min: 1, max: 256 }).meta({
      description: 'The address; it gets a link to confirm',
      example: 'ada@example.com',
    }),
  })
  .meta({ id: 'NewEmailTestRecipient', description: 'An address that is to confirm that it may be sent to' });
export type NewTestRecipient = z.infer<typeof NewTestRecipient>;
