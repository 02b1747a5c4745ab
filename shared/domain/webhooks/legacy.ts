import type { EventRecord } from '../../db/events/events.ts';
import type { WebhookRecord } from '../../db/webhooks/webhooks.ts';
import type { EventType } from '../../schemas/events.ts';
import type { LegacyEvent } from '../../schemas/webhooks/webhooks.ts';

/**
 * Webhooks of the first version (API decisions §5): their event names, and the bodies that they get. SMS batches have
 * no legacy event: a legacy webhook gets the receipts of the batch's messages, as of any other text.
 */

const typesOf: Record<LegacyEvent, readonly EventType[]> = {
  delivery_receipt: ['sms.delivered', 'sms.failed', 'sms.cancelled'],
  inbound: ['sms.received'],
};

/** Returns the types of the events that a webhook is sent, whichever version its event names are of. */
export function subscribedTypes({ apiVersion, events }: Pick<WebhookRecord, 'apiVersion' | 'events'>) {
  const types = apiVersion === null ? events.flatMap((name) => typesOf[name as LegacyEvent] ?? []) : events;
  return new Set<string>(types);
}

/** The fields of a message (API decisions §5, "SMS message") that the bodies have. */
type LegacyMessage = {
  id: string;
  status: string;
  sender: string | null;
  recipient: string | null;
  content: string | null;
  parts: number | null;
  cost: { gbp: string | null; eur: string | null } | null;
  reason?: { code: string } | null;
  clientReference: string | null;
  createdAt: string;
  sentAt: string | null;
  deliveredAt: string | null;
};

/** Returns the body of a delivery to a legacy webhook. The same event gives the same bytes. */
export function bodyOf(event: Omit<EventRecord, 'position'>): string {
  const data = JSON.parse(event.data);
  const { type, content } = contentOf(event.type, data);
  return JSON.stringify({
    id: event.id,
    timestamp: event.occurredAt.toISOString(),
    workspaceId: event.workspaceId,
    eventType: type,
    data: content,
  });
}

function contentOf(type: string, data: LegacyMessage): { type: 0 | 1 | 2; content: object } {
  if (typesOf.delivery_receipt.some((receipt) => receipt === type))
    return { type: 1, content: receiptOf(data) };
  if (typesOf.inbound.some((inbound) => inbound === type)) return { type: 2, content: inboundOf(data) };
  // A test is of neither kind; it goes out as it is.
  return { type: 0, content: data };
}

function receiptOf(message: LegacyMessage): object {
  return {
    messageId: message.id,
    clientReference: message.clientReference ?? null,
    deliveryStatus: message.status,
    errorCode: message.reason?.code ?? null,
    processedAt: message.sentAt ?? null,
    deliveredAt: message.deliveredAt ?? null,
    smsParts: message.parts ?? null,
    costGbp: message.cost?.gbp ?? null,
    costEur: message.cost?.eur ?? null,
  };
}

function inboundOf(message: LegacyMessage): object {
  return {
    messageId: message.id,
    inboundNumber: message.recipient ?? null,
    sender: message.sender ?? null,
    body: message.content ?? null,
    receivedAt: message.createdAt,
  };
}
