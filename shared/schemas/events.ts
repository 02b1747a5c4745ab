import { z } from 'zod';
import { oneOf } from '../formats/edit-distance.ts';
import { Id, Moment, queryInteger, Timestamp, text } from './fields.ts';

/** Every event that a webhook can subscribe to (spec §6, contract §5). */
export const eventTypes = [
  'email.queued',
  'email.sent',
  'email.delivered',
  'email.delayed',
  'email.bounced',
  'email.failed',
  'email.complained',
  'email.opened',
  'email.cancelled',
  'sms.queued',
  'sms.sent',
  'sms.delivered',
  'sms.failed',
  'sms.cancelled',
  'sms.held',
  'sms.received',
  'batch.paused',
  'batch.cancelled',
  'batch.completed',
  'suppression.created',
] as const;
export type EventType = (typeof eventTypes)[number];

export const Event = z
  .object({
    id: Id('event'),
    type: z.string().meta({ description: 'What happened', example: 'email.sent' }),
    occurredAt: Timestamp.meta({ description: 'When it happened: UTC, to the millisecond' }),
    apiVersion: z.string().meta({ description: 'The version that data follows', example: '2026-11-01' }),
    workspaceId: Id('workspace'),
    data: z.record(z.string(), z.unknown()).meta({
      type: 'object',
      additionalProperties: true,
      description: 'The email, message, batch or suppression as it was when the event happened',
    }),
  })
  .meta({ id: 'Event' });
export type Event = z.infer<typeof Event>;

export const EventPage = z
  .object({
    data: z.array(Event).meta({ description: 'Oldest first' }),
    nextCursor: z
      .string()
      .meta({ description: 'Always there; sent as `cursor` it returns only newer events' }),
  })
  .meta({ id: 'EventPage' });

/** The events of one record: all of them, oldest first. */
export const RecordEventPage = z
  .object({
    data: z.array(Event).meta({ description: 'All of them, oldest first' }),
    nextCursor: z.null().meta({ description: 'There is one page' }),
  })
  .meta({ id: 'RecordEventPage' });

const groups = ['email.*', 'sms.*', 'batch.*', 'suppression.*'] as const;

export const EventFilter = z.object({
  types: z
    .array(
      text({ max: 40 }).refine(
        (type) =>
          (eventTypes as readonly string[]).includes(type) || (groups as readonly string[]).includes(type),
        { error: ({ input }) => `must be ${oneOf([...eventTypes, ...groups], input)}` },
      ),
    )
    .max(50)
    .optional()
    .meta({ description: 'Only these types; repeated or separated by commas; `email.*` for a group' }),
  since: Moment.optional().meta({ description: 'Where to start without a cursor; default one hour ago' }),
  cursor: text({ max: 2000 })
    .optional()
    .meta({ description: 'nextCursor of the answer before; wins over since' }),
  limit: queryInteger({ min: 1, max: 1000 }).default(100).meta({ description: 'Events on a page' }),
});
export type EventFilter = z.infer<typeof EventFilter>;
