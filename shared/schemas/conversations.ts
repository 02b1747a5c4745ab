import { z } from 'zod';
import { Id, Moment, pageOf, pageQuery, Timestamp, text } from './fields.ts';
import { SmsMessage } from './sms/sms.ts';

export const Conversation = z
  .object({
    id: Id('conversation'),
    number: z.string().meta({ description: 'At the other end, in E.164', example: '+447700900123' }),
    sender: z.string().meta({ description: 'Yours: a name, or a number in E.164', example: 'Acme' }),
    contact: z
      .object({
        id: Id('contact'),
        firstName: z.string().nullable().describe('Given name'),
        lastName: z.string().nullable().describe('Family name'),
        company: z.string().nullable().describe('Where they work'),
      })
      .nullable()
      .describe('Who has the number now'),
    lastMessage: SmsMessage.describe('The newest text, whichever way it went'),
    lastInboundAt: Timestamp.describe('When the last text came in'),
    lastOutboundAt: Timestamp.nullable().describe('When the last text was accepted for sending'),
    inboundCount: z.int32().min(0).describe('Texts that came in'),
    outboundCount: z.int32().min(0).describe('Texts that were accepted for sending, whatever became of them'),
    suppressed: z.boolean().describe('The number is on the suppression list'),
  })
  .meta({
    id: 'Conversation',
    description: 'All texts between one sender of yours and one number that has written to it',
  });
export type Conversation = z.infer<typeof Conversation>;

export const ConversationPage = pageOf(Conversation, 'ConversationPage');

export const ConversationQuery = z.object({
  number: text({ min: 1, max: 40 })
    .optional()
    .meta({ description: 'At the other end, in any common format', example: '+447700900123' }),
  sender: text({ min: 1, max: 40 })
    .optional()
    .meta({ description: 'A name, in whatever case, or a number', example: 'Acme' }),
  since: Moment.optional().describe('Whose newest text was made at or after'),
  ...pageQuery,
});
export type ConversationQuery = z.infer<typeof ConversationQuery>;
