import { format } from 'mysql2';
import { query, sqlTime } from '../../client.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'skipped';

/** Ids as they are stored: of most of them nobody here ever reads more. */
export type NewDelivery = {
  id: Buffer;
  workspaceId: Buffer;
  webhookId: Buffer;
  eventId: Buffer;
  eventType: string;
  status: DeliveryStatus;
  /** Due at once; what is not pending never is. */
  createdAt: Date;
  /** It has no job in Redis: there is no room for one, or none is wanted. */
  parked: boolean;
  /** 0 for what goes into the lane of first attempts at once; all that had to wait counts as a turn taken. */
  claims: number;
  requestId: Buffer | null;
};

const columns = `id, workspace_id, webhook_id, event_id, event_type, status, due_at, parked, claims, created_at,
  completed_at, request_id`;

const rowsAtOnce = 500;

export async function insertDeliveries(deliveries: NewDelivery[]): Promise<void> {
  let sending: Promise<unknown> | undefined;
  for (let start = 0; start < deliveries.length; start += rowsAtOnce) {
    // Written while the server is busy with those before.
    const statement = format(`INSERT INTO webhook_deliveries (${columns}) VALUES ?`, [
      deliveries.slice(start, start + rowsAtOnce).map(toValues),
    ]);
    await sending;
    sending = query(statement);
  }
  await sending;
}

function toValues(delivery: NewDelivery): (Buffer | string | number | null)[] {
  const isPending = delivery.status === 'pending';
  const time = sqlTime(delivery.createdAt);
  return [
    delivery.id,
    delivery.workspaceId,
    delivery.webhookId,
    delivery.eventId,
    delivery.eventType,
    delivery.status,
    isPending ? time : null,
    delivery.parked ? 1 : 0,
    delivery.claims,
    time,
    isPending ? null : time,
    delivery.requestId,
  ];
}
