import { z } from 'zod';
import { oneOf } from '../formats/edit-distance.ts';
import { Email } from './email/email.ts';
import { Id, Moment, pageMeta, queryInteger, Timestamp, text } from './fields.ts';
import { SmsBatch } from './sms/batches.ts';
import { SmsMessage } from './sms/sms.ts';
import { Suppression } from './suppressions.ts';

/** Every event that a webhook can subscribe to (API decisions §5), and what it means to readers. */
const emailEvents = {
  'email.queued': 'An email was accepted',
  'email.sent': 'An email was handed over to the relay',
  'email.delivered': 'The recipient’s mail server accepted an email',
  'email.delayed': 'An email could not be handed over yet; the service tries again',
  'email.bounced': 'The recipient’s mail server refused an email',
  'email.failed': 'An email will not be sent: see reason',
  'email.complained': 'A recipient reported an email as spam',
  'email.opened': 'An email was opened for the first time',
  'email.cancelled': 'A scheduled email was cancelled',
} as const;
const smsEvents = {
  'sms.queued': 'A text was accepted',
  'sms.sent': 'The network accepted a text',
  'sms.delivered': 'A text arrived on the phone',
  'sms.failed': 'A text will not arrive: see reason',
  'sms.cancelled': 'A text was cancelled',
  'sms.held': 'A text waits until the workspace can pay for it',
  'sms.received': 'A text was received',
} as const;
const batchEvents = {
  'batch.paused': 'A batch was paused: see pausedReason',
  'batch.cancelled': 'A batch was cancelled',
  'batch.completed': 'Every message of a batch has its final status, or no report came within 72 hours',
} as const;
const suppressionEvents = {
  'suppression.created': 'A number or an address was added to the suppression list',
} as const;

export const eventMeanings = { ...emailEvents, ...smsEvents, ...batchEvents, ...suppressionEvents };
export type EventType = keyof typeof eventMeanings;
export const eventTypes = Object.keys(eventMeanings) as [EventType, ...EventType[]];

/** `id` names the shape in the API description. */
function eventOf<Types extends z.ZodType<string>, Data extends z.ZodType>(
  id: string,
  { description, types, data }: { description: string; types: Types; data: Data },
) {
  return z
    .object({
      id: Id('event'),
      type: types,
      occurredAt: Timestamp.describe('When it happened: UTC, to the millisecond'),
      apiVersion: z.string().meta({ description: 'The version that data follows', example: '2026-11-01' }),
      workspaceId: Id('workspace'),
      data,
    })
    .meta({ id, description });
}

/** The schema of a type, with these meanings. */
function typesOf<Type extends string>(meanings: Readonly<Record<Type, string>>) {
  const types = Object.keys(meanings) as [Type, ...Type[]];
  return z.enum(types).meta({
    description: types.map((type) => `\`${type}\`: ${meanings[type]}`).join('; '),
    example: types[0],
  });
}

const EmailEvent = eventOf('EmailEvent', {
  description: 'An event of an email; data is the email at that time',
  types: typesOf(emailEvents),
  data: Email.describe('The email at the time of the event'),
});
const SmsEvent = eventOf('SmsEvent', {
  description: 'An event of a text; data is the text at that time',
  types: typesOf(smsEvents),
  data: SmsMessage.describe('The text at the time of the event'),
});
const BatchEvent = eventOf('BatchEvent', {
  description: 'An event of an SMS batch; data is the batch at that time',
  types: typesOf(batchEvents),
  data: SmsBatch.describe('The batch at the time of the event'),
});
const SuppressionEvent = eventOf('SuppressionEvent', {
  description: 'A suppression was created; data is the suppression',
  types: typesOf(suppressionEvents),
  data: Suppression.describe('The suppression at the time of the event'),
});
const WebhookTestEvent = eventOf('WebhookTestEvent', {
  description: 'A test of a webhook; it is sent on request, and only to that webhook',
  types: z.literal('webhook.test').describe('Always webhook.test'),
  data: z
    .object({
      id: Id('webhook'),
      message: z.string().describe('A text that says that this is a test'),
    })
    .describe('The webhook that is tested'),
});

/** The shapes of events, by the types that have them. */
export const eventShapes = [
  { types: Object.keys(emailEvents), shape: EmailEvent },
  { types: Object.keys(smsEvents), shape: SmsEvent },
  { types: Object.keys(batchEvents), shape: BatchEvent },
  { types: Object.keys(suppressionEvents), shape: SuppressionEvent },
  { types: ['webhook.test'], shape: WebhookTestEvent },
] as { types: (EventType | 'webhook.test')[]; shape: z.ZodType }[];

export const Event = z
  .discriminatedUnion('type', [EmailEvent, SmsEvent, BatchEvent, SuppressionEvent, WebhookTestEvent])
  .meta({ id: 'Event', description: 'An event; `type` tells the kind of the event and the shape of data' });
export type Event = z.infer<typeof Event>;

export const EventPage = z
  .object({
    data: z.array(Event).describe('The events of this page, oldest first'),
    nextCursor: z.string().describe('Never null. Send it as `cursor` to get only newer events'),
    hasMore: z
      .boolean()
      .describe(
        'true if the page is full, or if the search has not reached the newest event. Ask again at once, even if the page is empty',
      ),
  })
  .meta(pageMeta('EventPage'));

/** The events of one record: all of them, oldest first. */
export const RecordEventPage = z
  .object({
    data: z.array(Event).describe('All events of the record, oldest first'),
    nextCursor: z.null().describe('Always null: there is only one page'),
  })
  .meta({ id: 'RecordEventPage', description: 'All events of one record, oldest first' });

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
    .describe(
      'Only events of these types. Repeat the parameter, or separate types by commas; `email.*` selects a group',
    ),
  since: Moment.optional().describe('The time to start from, if there is no cursor; default: one hour ago'),
  cursor: text({ max: 2000 })
    .optional()
    .describe('nextCursor of the previous answer; with it, since has no effect'),
  limit: queryInteger({ min: 1, max: 1000 }).default(100).describe('The most events on a page'),
});
export type EventFilter = z.infer<typeof EventFilter>;
