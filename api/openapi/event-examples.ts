import type { z } from 'zod';
import { currentVersion } from '../../shared/common/versions.ts';
import { Email } from '../../shared/schemas/email/email.ts';
import type { EventType } from '../../shared/schemas/events.ts';
import { SmsBatch } from '../../shared/schemas/sms/batches.ts';
import { SmsMessage } from '../../shared/schemas/sms/sms.ts';
import { Suppression } from '../../shared/schemas/suppressions.ts';
import { exampleAnswer } from './answers.ts';

const answerOf = <Shape extends z.ZodType>(shape: Shape) => exampleAnswer(shape) as z.infer<Shape>;
const email = (changes: Partial<Email>) => ({ ...answerOf(Email), ...changes });
const text = (changes: Partial<SmsMessage>) => ({ ...answerOf(SmsMessage), ...changes });
const batch = (changes: Partial<SmsBatch>) => ({ ...answerOf(SmsBatch), ...changes });

const scheduledAt = '2026-11-21T09:00:00.000Z';
const sentAt = '2026-11-20T10:00:45.652Z';
const deliveredAt = '2026-11-20T10:00:46.180Z';
/** The time of an event that comes some time after the message. */
const updatedAt = '2026-11-20T10:12:30.400Z';
const handedOver = { sentAt, deliveredAt };

/** The record that each event carries, as it is when the event happens. */
const data: Readonly<Record<EventType | 'webhook.test', object>> = {
  'email.queued': email({}),
  'email.sent': email({ status: 'sent', sentAt, updatedAt: sentAt }),
  'email.delivered': email({ status: 'delivered', ...handedOver, updatedAt: deliveredAt }),
  'email.delayed': email({
    reason: {
      category: 'soft_bounce',
      code: 'mailbox_full',
      description: '452 4.2.2 The mailbox is full',
      retryable: true,
    },
    updatedAt,
  }),
  'email.bounced': email({
    status: 'failed',
    reason: {
      category: 'hard_bounce',
      code: 'mailbox_unknown',
      description: '550 5.1.1 There is no such mailbox',
      retryable: false,
    },
    sentAt,
    updatedAt,
  }),
  'email.failed': email({
    status: 'failed',
    reason: {
      category: 'suppressed',
      code: 'recipient_suppressed',
      description: 'The recipient was on the suppression list when the email was due',
      retryable: false,
    },
    updatedAt,
  }),
  'email.complained': email({
    status: 'delivered',
    reason: {
      category: 'complaint',
      code: 'abuse',
      description: 'The recipient reported the email as unwanted',
      retryable: false,
    },
    ...handedOver,
    updatedAt,
  }),
  'email.opened': email({
    status: 'delivered',
    openCount: 1,
    ...handedOver,
    openedAt: updatedAt,
    updatedAt,
  }),
  'email.cancelled': email({ status: 'cancelled', scheduledAt, updatedAt }),
  'sms.queued': text({}),
  'sms.sent': text({ status: 'sent', sentAt, updatedAt: sentAt }),
  'sms.delivered': text({ status: 'delivered', ...handedOver, updatedAt: deliveredAt }),
  'sms.failed': text({
    status: 'failed',
    reason: {
      category: 'undeliverable',
      code: 'unknown_subscriber',
      description: 'Nobody has this number',
      retryable: false,
    },
    sentAt,
    updatedAt,
  }),
  'sms.cancelled': text({ status: 'cancelled', scheduledAt, updatedAt }),
  'sms.held': text({ status: 'held' }),
  'sms.received': text({
    direction: 'inbound',
    status: 'received',
    sender: '+447700900123',
    recipient: 'Demo',
    content: 'Yes please',
    cost: { gbp: null, eur: null },
    inReplyTo: 'sms_01h455vb4pex5vsknk084sn02r',
    createdAt: updatedAt,
    updatedAt,
  }),
  'batch.paused': batch({
    status: 'paused',
    counts: {
      total: 2,
      waiting: 1,
      queued: 0,
      held: 0,
      sent: 0,
      delivered: 1,
      failed: 0,
      cancelled: 0,
    },
    parts: 1,
    cost: { gbp: '0.0345', eur: '0.0412' },
    expanding: true,
    pausedReason: 'insufficient_balance',
    completedAt: null,
    updatedAt,
  }),
  'batch.cancelled': batch({
    status: 'cancelled',
    counts: {
      total: 2,
      waiting: 2,
      queued: 0,
      held: 0,
      sent: 0,
      delivered: 0,
      failed: 0,
      cancelled: 0,
    },
    parts: 0,
    cost: { gbp: '0.0000', eur: '0.0000' },
    scheduledAt,
    startedAt: null,
    completedAt: null,
    updatedAt,
  }),
  'batch.completed': batch({}),
  'suppression.created': answerOf(Suppression),
  'webhook.test': {
    id: 'webhook_01h455vb4pex5vsknk084sn02q',
    message: 'A test of this webhook, sent on request. Nothing has happened to a message.',
  },
};

/** Returns the whole body of a delivery of this type, for readers of the description. */
export function exampleEvent(type: EventType | 'webhook.test'): object {
  const record: { createdAt?: string; updatedAt?: string } = data[type];
  return {
    id: 'event_01h455vb4pex5vsknk084sn02q',
    type,
    occurredAt: record.updatedAt ?? record.createdAt ?? updatedAt,
    apiVersion: currentVersion,
    workspaceId: 'workspace_01h455vb4pex5vsknk084sn02q',
    data: record,
  };
}
