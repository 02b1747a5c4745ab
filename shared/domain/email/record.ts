import { requestId } from '../../common/request-context.ts';
import type { EmailReason, EmailRecord, EmailStatus } from '../../db/email/emails.ts';
import type { NewEventRecord } from '../../db/events/events.ts';
import { isNear } from '../../queue/queue.ts';
import { Email } from '../../schemas/email/email.ts';
import type { EventType } from '../../schemas/events.ts';
import * as events from '../events/events.ts';
import { wireOf } from '../requests/wire.ts';
import { advancer } from '../work/advance.ts';

/** The statuses of an email, and its forms in the API and in events. */

/** The statuses that may follow each status (API decisions §7). A report that arrives late changes no other status. */
export const nextStatuses: Record<EmailStatus, readonly EmailStatus[]> = {
  queued: ['sent', 'failed', 'cancelled'],
  sent: ['delivered', 'failed'],
  delivered: ['failed'],
  failed: [],
  cancelled: [],
};

/** The fields that an email is accepted with. `queued` derives the other ones from them. */
type AcceptedEmail = Pick<
  EmailRecord,
  | 'id'
  | 'workspaceId'
  | 'kind'
  | 'sender'
  | 'recipient'
  | 'recipientKey'
  | 'subject'
  | 'textExcerpt'
  | 'clientReference'
  | 'clientTag'
  | 'trackOpens'
  | 'bypassSuppressions'
  | 'scheduledAt'
  | 'storedBytes'
>;

/** A new email: it waits for its time, or for a worker. */
export function queued(accepted: AcceptedEmail, at: Date): EmailRecord {
  const dueAt = accepted.scheduledAt ?? at;
  return {
    ...accepted,
    status: 'queued',
    reason: null,
    openCount: 0,
    createdAt: at,
    updatedAt: at,
    sentAt: null,
    deliveredAt: null,
    openedAt: null,
    dueAt,
    parked: !isNear(dueAt),
    claims: 0,
    retries: 0,
    uncertainCount: 0,
    handoverAt: null,
    triedAt: null,
    eventSeq: 1,
    requestId: requestId(),
  };
}

/** Returns the record as callers with all scopes get it: in answers, in the feed and at webhooks. */
export function toWire(email: EmailRecord): Email {
  return wireOf(Email, {
    ...email,
    content: { html: null, text: email.textExcerpt },
    reason: email.reason ?? undefined,
  });
}

export type EmailChanges = {
  at: Date;
  reason?: EmailReason;
};

/** Returns the email in its next status. */
export const advance = advancer<EmailStatus, EmailReason, EmailRecord>(nextStatuses);

/** Returns the email after a report that does not change its status: a delay, a complaint (API decisions §5). */
export function remark(email: EmailRecord, { at, reason }: EmailChanges): EmailRecord {
  return {
    ...email,
    reason: reason ?? email.reason,
    updatedAt: at > email.updatedAt ? at : email.updatedAt,
    eventSeq: email.eventSeq + 1,
  };
}

/** Returns an event with the present state of the email; the event has the email's sequence number. */
export function eventOf(email: EmailRecord, type: EventType = eventTypeOf(email)): NewEventRecord {
  const seq = { id: email.id, seq: email.eventSeq, data: toWire(email) };
  return events.make(type, seq, email.updatedAt, email.requestId);
}

/** Returns the event type for a status. An email is never both bounced and failed (API decisions §5). */
function eventTypeOf(email: EmailRecord): EventType {
  if (email.status !== 'failed') return `email.${email.status}`;
  const { category } = email.reason!;
  return category === 'hard_bounce' || category === 'soft_bounce' ? 'email.bounced' : 'email.failed';
}
