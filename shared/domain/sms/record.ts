import type { Refuse } from '../../common/faults.ts';
import { requestId } from '../../common/request-context.ts';
import type { NewEventRecord } from '../../db/events/events.ts';
import type { SmsRecord } from '../../db/sms/messages.ts';
import { newId } from '../../formats/ids.ts';
import { parseFilterNumber } from '../../formats/sms/phone-number.ts';
import { isNear } from '../../queue/queue.ts';
import type { EventType } from '../../schemas/events.ts';
import { SmsMessage, type SmsReason, type SmsStatus } from '../../schemas/sms/sms.ts';
import * as events from '../events/events.ts';
import { wireOf } from '../requests/wire.ts';
import { advancer } from '../work/advance.ts';
import { costToWire } from './prices.ts';

/** The statuses of a text message, and its forms in the API and in events. */

/** The statuses that may follow each status (API decisions §8). A report that arrives late changes no other status. */
export const nextStatuses: Record<SmsStatus, readonly SmsStatus[]> = {
  queued: ['held', 'sent', 'failed', 'cancelled'],
  held: ['queued', 'failed', 'cancelled'],
  sent: ['delivered', 'failed'],
  delivered: [],
  failed: [],
  cancelled: [],
  received: [],
};

type OwnFields =
  | 'workspaceId'
  | 'sender'
  | 'recipient'
  | 'content'
  | 'country'
  | 'parts'
  | 'encoding'
  | 'cost'
  | 'lineageId'
  | 'contactId';

/** A new text: it waits for its time, or for a worker, unless its own fields say otherwise. */
export function newSms(at: Date, own: Pick<SmsRecord, OwnFields> & Partial<SmsRecord>): SmsRecord {
  const dueAt = own.scheduledAt ?? at;
  return {
    id: newId('sms', at),
    direction: 'outbound',
    status: 'queued',
    charged: 0,
    reason: null,
    clientReference: null,
    clientTag: null,
    batchId: null,
    templateName: null,
    inReplyTo: null,
    createdAt: at,
    updatedAt: at,
    scheduledAt: null,
    sentAt: null,
    deliveredAt: null,
    dueAt,
    lane: 'default',
    parked: !isNear(dueAt),
    claims: 0,
    retries: 0,
    uncertainCount: 0,
    isPartlyTaken: false,
    handoverAt: null,
    handoverGateway: null,
    triedAt: null,
    gateway: null,
    gatewayReference: null,
    eventSeq: 1,
    requestId: requestId(),
    ...own,
  };
}

/** Returns the message in its next status. */
export const advance = advancer<SmsStatus, SmsReason, SmsRecord>(nextStatuses);

/** Returns the message as a caller with all scopes sees it: in answers, in the feed and at webhooks. */
export function toWire(message: SmsRecord): SmsMessage {
  return wireOf(SmsMessage, {
    ...message,
    cost: costToWire(message.cost),
    reason: message.reason ?? undefined,
  });
}

// Fewer digits may be a short code, which sends texts but is not a phone number.
const numberLike = /^[+(]*\d(?:[\s().\-/]*\d){6,}$/;

/** Returns the sender or recipient that a filter names, in its stored form: a number in E.164, or a name. */
export function addressOf<Absent extends undefined>(
  field: string,
  text: string | Absent,
  refuse: Refuse,
): string | Absent {
  if (text === undefined) return text;
  const parsed = parseFilterNumber(text);
  if (parsed.ok) return parsed.number;
  if (numberLike.test(text.trim())) refuse(field, parsed.message);
  return text;
}

/** Returns an event with the present state of the message; the event has the message's sequence number. */
export function eventOf(message: SmsRecord): NewEventRecord {
  const type: EventType = `sms.${message.status}`;
  const record = { id: message.id, seq: message.eventSeq, data: toWire(message) };
  return events.make(type, record, message.updatedAt, message.requestId);
}
