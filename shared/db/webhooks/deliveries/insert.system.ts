import { config } from '../../../config/config.ts';
import { isDuplicateKey, outsideTransaction, query, sqlTime } from '../../client.ts';
import type { DeliveryStatus } from './deliveries.ts';

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
/** Connections beside the caller's; none where a pool is so small that waiting for one could stop the caller's own work. */
const beside = () => Math.min(4, Math.floor(config.MYSQL_POOL_SIZE / 4));

/**
 * In the caller's transaction, if they are few. Many are committed ahead of it, over several connections: whoever comes
 * to the same events again, because that transaction has failed, meets them here. Returns all as they are stored, in
 * their order.
 */
export async function insertDeliveries(deliveries: NewDelivery[]): Promise<NewDelivery[]> {
  const stored: NewDelivery[][] = [];
  const starts = Array.from({ length: Math.ceil(deliveries.length / rowsAtOnce) }, (_, index) => index);
  const left = starts.values();
  const insertLeft = async () => {
    for (const index of left)
      stored[index] = await insertPiece(deliveries.slice(index * rowsAtOnce, (index + 1) * rowsAtOnce));
  };
  if (starts.length <= 1 || beside() === 0) await insertLeft();
  else await outsideTransaction(() => Promise.all(Array.from({ length: beside() }, insertLeft)));
  return stored.flat();
}

async function insertPiece(piece: NewDelivery[]): Promise<NewDelivery[]> {
  try {
    await insertRows(piece);
    return piece;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const known = await listKnown(piece);
    const missing = piece.filter((delivery) => !known.has(keyOf(delivery)));
    if (missing.length > 0) await insertRows(missing);
    return piece.map((delivery) => ({ ...delivery, ...known.get(keyOf(delivery)) }));
  }
}

const insertRows = (deliveries: NewDelivery[]) =>
  query(`INSERT INTO webhook_deliveries (${columns}) VALUES ?`, [deliveries.map(toValues)]);

const keyOf = ({ eventId, webhookId }: Pick<NewDelivery, 'eventId' | 'webhookId'>) =>
  eventId.toString('latin1') + webhookId.toString('latin1');

type KnownRow = {
  id: Buffer;
  event_id: Buffer;
  webhook_id: Buffer;
  status: DeliveryStatus;
  parked: number;
  claims: number;
};
type Known = Pick<NewDelivery, 'id' | 'status' | 'parked' | 'claims'>;

async function listKnown(piece: NewDelivery[]): Promise<Map<string, Known>> {
  const rows = await query<KnownRow[]>(
    'SELECT id, event_id, webhook_id, status, parked, claims FROM webhook_deliveries WHERE event_id IN (?)',
    [piece.map(({ eventId }) => eventId)],
  );
  return new Map(
    rows.map(({ id, event_id, webhook_id, status, parked, claims }) => [
      keyOf({ eventId: event_id, webhookId: webhook_id }),
      { id, status, parked: parked === 1, claims },
    ]),
  );
}

/** By hand: several columns follow from one field, and one text of the time is for all of them. */
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
