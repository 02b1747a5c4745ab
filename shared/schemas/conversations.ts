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
        firstName: z.string().nullable().meta({ description: 'Given name' }),
        lastName: z.string().nullable().meta({ description: 'Family name' }),
        company: z.string().nullable().meta({ description: 'Where they work' }),
      })
      .nullable()
      .meta({ description: 'Who has the number now' }),
    lastMessage: SmsMessage.meta({ description: 'The newest text, whichever way it went' }),
    lastInboundAt: Timestamp.meta({ description: 'When the last text came in' }),
    lastOutboundAt: Timestamp.nullable().meta({ description: 'When the last text was accepted for sending' }),
    inboundCount: z.int32().min(0).meta({ description: 'Texts that came in' }),
    outboundCount: z
      .int32()
      .min(0)
      .meta({ description: 'Texts that were accepted for sending, whatever became of them' }),
    suppressed: z.boolean().meta({ description: 'The number is on the suppression list' }),
  })
  .meta({ id: 'Conversation' });
export type Conversation = z.infer<typeof Conversation>;

export const ConversationPage = pageOf(Conversation, 'ConversationPage');

export const ConversationQuery = z.object({
  number: text({ min: 1, max: 40 })
    .optional()
    .meta({ description: 'At the other end, in any common format', example: '+447700900123' }),
  sender: text({ min: 1, max: 40 })
    .optional()
    .meta({ description: 'A name, in whatever case, or a number', example: 'Acme' }),
  since: Moment.optional().meta({ description: 'Whose newest text was made at or after' }),
  ...pageQuery,
});
export type ConversationQuery = z.infer<typeof ConversationQuery>;
