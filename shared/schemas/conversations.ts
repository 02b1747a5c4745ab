import { z } from 'zod';
import { Id, Moment, pageOf, pageQuery, Timestamp, text } from './fields.ts';
import { SmsMessage } from './sms/sms.ts';

export const Conversation = z
  .object({
    id: Id('conversation'),
    number: z.string().meta({
      description: 'The number of the other person, in E.164',
      example: '+447700900123',
    }),
    sender: z.string().meta({ description: 'Your sender: a name, or a number in E.164', example: 'Acme' }),
    contact: z
      .object({
        id: Id('contact'),
        firstName: z.string().nullable().describe('Given name'),
        lastName: z.string().nullable().describe('Family name'),
        company: z.string().nullable().describe('The company that the person works for'),
      })
      .nullable()
      .describe('The contact that has the number now; null if there is none'),
    lastMessage: SmsMessage.describe('The newest text, in either direction'),
    lastInboundAt: Timestamp.describe('When the last inbound text was received'),
    lastOutboundAt: Timestamp.nullable().describe(
      'When the last outbound text was accepted; null if there is none',
    ),
    inboundCount: z.int32().min(0).describe('How many texts were received'),
    outboundCount: z
      .int32()
      .min(0)
      .describe('How many texts were accepted for sending, whatever their status'),
    suppressed: z.boolean().describe('true if the number is on the suppression list'),
  })
  .meta({
    id: 'Conversation',
    description: 'All texts between one of your senders and one number that has sent a text to this sender',
  });
export type Conversation = z.infer<typeof Conversation>;

export const ConversationPage = pageOf(Conversation, 'ConversationPage');

export const ConversationQuery = z.object({
  number: text({ min: 1, max: 40 })
    .optional()
    .meta({ description: 'The number of the other person, in any common format', example: '+447700900123' }),
  sender: text({ min: 1, max: 40 })
    .optional()
    .meta({ description: 'Your sender: a name, in upper or lower case, or a number', example: 'Acme' }),
  since: Moment.optional().describe('Conversations whose newest text was created at or after this time'),
  ...pageQuery,
});
export type ConversationQuery = z.infer<typeof ConversationQuery>;
