import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import { id, int, outsideText, text, time } from '../../client/columns.ts';
import { type RecordOf, type RowOf, table } from '../../client/table.ts';
import { execute, query } from '../../client.ts';
import { workColumns } from '../../work/columns.ts';

/** The log of deliveries as their workspace reads it. */

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'skipped';

const attempts = table('webhook_attempts', {
  number: int(),
  attemptedAt: time(),
  durationMs: int(),
  responseStatus: int().nullable(),
  responseBody: outsideText('webhook_deliveries.response_body').nullable(),
  error: outsideText('webhook_deliveries.error').nullable(),
});
type AttemptRecord = RecordOf<typeof attempts>;

export const latest = attempts.omit('number');
export type DeliveryAttempt = RecordOf<typeof latest>;

export const deliveries = table('webhook_deliveries', {
  id: id('delivery'),
  workspaceId: id('workspace'),
  webhookId: id('webhook'),
  eventId: id('event'),
  eventType: text(),
  status: text<DeliveryStatus>(),
  attempts: int(),
  ...workColumns,
  /** How many earlier workers claimed the delivery and never reported an outcome. */
  lostClaims: int(),
  scheduleStep: int(),
  createdAt: time(),
  completedAt: time().nullable(),
  /** When it was last sent again on request. */
  restartedAt: time().nullable(),
  /** Which body its first attempt sent: a version of the API or `legacy`. Null when there was none yet. */
  bodyVersion: text().nullable(),
  /** The row has its latest attempt, number `attempts`; the earlier ones have rows of their own. */
  ...latest.fields,
  attemptedAt: time().nullable(),
  durationMs: int().nullable(),
});
const logged = deliveries.pick(
  'id',
  'eventId',
  'eventType',
  'status',
  'attempts',
  'dueAt',
  'createdAt',
  'completedAt',
);
const columns = `${logged.columns}, lease_token, ${latest.columns}`;
type DeliveryRow = RowOf<typeof logged> & { lease_token: Buffer | null } & (
    | RowOf<typeof latest>
    | { attempted_at: null }
  );

export type DeliveryRecord = RecordOf<typeof logged> & {
  /** By a worker: `dueAt` is then the end of the lease. */
  isClaimed: boolean;
  latestAttempt: DeliveryAttempt | null;
};

export type DeliveryFilter = { status?: DeliveryStatus | undefined; eventType?: string | undefined };
/** Ids before `before`, and not before `downTo`; null is no bound. */
type DeliveryRange = { before: string | null; downTo: string | null };

/** Newest first. */
export async function listDeliveries(
  workspaceId: string,
  webhookId: string,
  filter: DeliveryFilter,
  range: DeliveryRange,
  limit: number,
): Promise<DeliveryRecord[]> {
  const { sql, values } = matching(workspaceId, webhookId, filter, range, indexFor(filter).name);
  const rows = await query<DeliveryRow[]>(`SELECT ${columns} ${sql} ORDER BY id DESC LIMIT ?`, [
    ...values,
    limit,
  ]);
  return rows.map(toRecord);
}

/**
 * Returns the id that a search by both status and type has reached after `count` more deliveries; null when there are
 * fewer. No index has both columns, so the search walks along the index that is likelier to be short.
 */
export async function findDeliveryFurtherOn(
  workspaceId: string,
  webhookId: string,
  filter: DeliveryFilter,
  before: string | null,
  count: number,
): Promise<string | null> {
  const { name, leading } = indexFor(filter);
  const { sql, values } = matching(workspaceId, webhookId, leading, { before, downTo: null }, name);
  const [row] = await query<{ id: Buffer; looked: number }[]>(
    `SELECT MIN(id) AS id, COUNT(*) AS looked FROM (SELECT id ${sql} ORDER BY id DESC LIMIT ?) AS walk`,
    [...values, count],
  );
  return row!.looked === count ? idFromBytes('delivery', row!.id) : null;
}

function indexFor({ status, eventType }: DeliveryFilter): { name: string; leading: DeliveryFilter } {
  if (status !== undefined && (eventType === undefined || status !== 'delivered'))
    return { name: 'webhook_deliveries_listed_by_status', leading: { status } };
  if (eventType !== undefined) return { name: 'webhook_deliveries_listed_by_type', leading: { eventType } };
  return { name: 'webhook_deliveries_listed', leading: {} };
}

function matching(
  workspaceId: string,
  webhookId: string,
  { status, eventType }: DeliveryFilter,
  { before, downTo }: DeliveryRange,
  index: string,
) {
  const conditions: [sql: string, value: Buffer | string | undefined][] = [
    ['webhook_id = ?', idToBytes(webhookId)],
    ['workspace_id = ?', idToBytes(workspaceId)],
    ['status = ?', status],
    ['event_type = ?', eventType],
    ['id < ?', before === null ? undefined : idToBytes(before)],
    ['id >= ?', downTo === null ? undefined : idToBytes(downTo)],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  return {
    // The index is named, because reading the newest ids of all webhooks looks cheap to the optimizer, and is not.
    sql: `FROM webhook_deliveries FORCE INDEX (${index}) WHERE ${given.map(([sql]) => sql).join(' AND ')}`,
    values: given.map(([, value]) => value),
  };
}

export async function findDelivery(
  workspaceId: string,
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRecord | null> {
  const [row] = await execute<DeliveryRow[]>(
    `SELECT ${columns} FROM webhook_deliveries WHERE id = ? AND webhook_id = ? AND workspace_id = ?`,
    [idToBytes(deliveryId), idToBytes(webhookId), idToBytes(workspaceId)],
  );
  return row ? toRecord(row) : null;
}

/** The attempts before the latest, newest first. */
export async function listEarlierAttempts(
  workspaceId: string,
  deliveryId: string,
  limit: number,
): Promise<AttemptRecord[]> {
  return attempts.toRecords(
    await query(
      `SELECT ${attempts.columns} FROM webhook_attempts
     WHERE delivery_id = ? AND workspace_id = ? ORDER BY number DESC LIMIT ?`,
      [idToBytes(deliveryId), idToBytes(workspaceId), limit],
    ),
  );
}

function toRecord(row: DeliveryRow): DeliveryRecord {
  return {
    ...logged.toRecord(row),
    isClaimed: row.lease_token !== null,
    latestAttempt: row.attempted_at && latest.toRecord(row),
  };
}
