import { portionsOf } from '../../../common/portions.ts';
import { config } from '../../../config/config.ts';
import { byId, isDuplicateKey, outsideTransaction, query, sqlTime } from '../../client.ts';
import type { DeliveryStatus } from './deliveries.ts';

/** Ids are bytes, as they are stored, because most of them are never needed in another form here. */
export type NewDelivery = {
  id: Buffer;
  workspaceId: Buffer;
  webhookId: Buffer;
  eventId: Buffer;
  eventType: string;
  status: DeliveryStatus;
  /** A pending delivery is due at this time; any other is never due. */
  createdAt: Date;
  /** The delivery has no job in Redis, because there is no room for one or none is wanted. */
  parked: boolean;
  /**
   * 0 puts the first job into the lane of first attempts. 1 puts it into the retry lane, for a webhook that is not
   * healthy.
   */
  claims: number;
  requestId: Buffer | null;
};

const columns = `id, workspace_id, webhook_id, event_id, event_type, status, due_at, parked, claims, created_at,
  completed_at, request_id`;

const rowsAtOnce = 500;
/**
 * Returns how many connections to use beside the caller's: none where the pool is so small that waiting for one could
 * stop the caller's own work.
 */
const beside = () => Math.min(4, Math.floor(config.MYSQL_POOL_SIZE / 4));

/**
 * Inserts up to `rowsAtOnce` deliveries in the caller's transaction. More are committed ahead of it, over several
 * connections: if that transaction fails and the same events come again, their deliveries are found here. Returns all
 * deliveries as they are stored, in the given order.
 */
export async function insertDeliveries(deliveries: NewDelivery[]): Promise<NewDelivery[]> {
  const stored: NewDelivery[][] = [];
  const pieces = [...portionsOf(deliveries, rowsAtOnce)];
  const left = pieces.entries();
  const insertLeft = async () => {
    for (const [index, piece] of left) stored[index] = await insertPiece(piece);
  };
  if (pieces.length <= 1 || beside() === 0) await insertLeft();
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
    await unskip(piece, known);
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

/**
 * Makes deliveries pending that were stored as skipped for a webhook that is on by now: a recovery may have ended before
 * they were committed. They wait for room in Redis, like all that a recovery takes.
 */
async function unskip(piece: NewDelivery[], known: Map<string, Known>): Promise<void> {
  const skipped = piece
    .filter(({ status }) => status === 'pending')
    .map((delivery) => known.get(keyOf(delivery)))
    .filter((one) => one?.status === 'skipped');
  if (skipped.length === 0) return;
  await query(
    `UPDATE webhook_deliveries ${byId} SET status = 'pending', due_at = ?, parked = 1, completed_at = NULL
     WHERE id IN (?) AND status = 'skipped'`,
    [piece[0]!.createdAt, skipped.map((one) => one!.id)],
  );
  for (const one of skipped) Object.assign(one!, { status: 'pending', parked: true });
}

/** Builds the row by hand: several columns follow from one field, and all times share one text. */
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
