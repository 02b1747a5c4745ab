import { portionsOf } from '../../../common/portions.ts';
import { config } from '../../../config/config.ts';
import type { RecordOf } from '../../client/table.ts';
import { byId, isDuplicateKey, outsideTransaction, type Param, query, writtenRows } from '../../client.ts';
import { deliveries } from './deliveries.ts';

/** Ids are bytes, as they are stored, because most of them are never needed in another form here. */
const newDeliveries = deliveries
  .pick(
    'id',
    'workspaceId',
    'webhookId',
    'eventId',
    'eventType',
    'status',
    'dueAt',
    'parked',
    'claims',
    'createdAt',
    'completedAt',
    'requestId',
  )
  .inBytes();
const knownFields = newDeliveries.pick('id', 'eventId', 'webhookId', 'status', 'parked', 'claims');

/**
 * A pending delivery is due at once; any other is never due. `claims` is 0 for a first job in the lane of first attempts,
 * and 1 for one in the retry lane, for a webhook that is not healthy.
 */
export type NewDelivery = Omit<RecordOf<typeof newDeliveries>, 'dueAt' | 'completedAt'>;

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
  query(`INSERT INTO ${newDeliveries.into} VALUES ${writtenRows(deliveries.map(toValues))}`);

const keyOf = ({ eventId, webhookId }: Pick<NewDelivery, 'eventId' | 'webhookId'>) =>
  eventId.toString('latin1') + webhookId.toString('latin1');

type KnownDelivery = RecordOf<typeof knownFields>;

async function listKnown(piece: NewDelivery[]): Promise<Map<string, KnownDelivery>> {
  const found = knownFields.toRecords(
    await query(`SELECT ${knownFields.columns} FROM webhook_deliveries WHERE event_id IN (?)`, [
      piece.map(({ eventId }) => eventId),
    ]),
  );
  return new Map(found.map((one) => [keyOf(one), one]));
}

/**
 * Makes deliveries pending that were stored as skipped for a webhook that is on by now: a recovery may have ended before
 * they were committed. They wait for room in Redis, like all that a recovery takes.
 */
async function unskip(piece: NewDelivery[], known: Map<string, KnownDelivery>): Promise<void> {
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

function toValues(delivery: NewDelivery): Param[] {
  const isPending = delivery.status === 'pending';
  const at = delivery.createdAt;
  return newDeliveries.toValues({
    ...delivery,
    dueAt: isPending ? at : null,
    completedAt: isPending ? null : at,
  });
}
