import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import { execute, query, type Row } from '../../client.ts';

/** The log of deliveries as their workspace reads it. */

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'skipped';

export type AttemptRecord = {
  number: number;
  attemptedAt: Date;
  durationMs: number;
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
};
export type DeliveryRecord = {
  id: string;
  eventId: string;
  eventType: string;
  status: DeliveryStatus;
  attempts: number;
  dueAt: Date | null;
  /** A worker has it in hand; dueAt is then the end of its lease. */
  isInHand: boolean;
  createdAt: Date;
  completedAt: Date | null;
  latestAttempt: AttemptRecord | null;
};

const columns = `id, event_id, event_type, status, attempts, due_at, lease_token, created_at, completed_at,
  attempted_at, duration_ms, response_status, response_body, error`;

export type DeliveryFilter = { status?: DeliveryStatus | undefined; eventType?: string | undefined };
/** Ids before the first and not before the second; null is no bound. */
export type DeliveryRange = { before: string | null; downTo: string | null };

/** Newest first. */
export async function listDeliveries(
  workspaceId: string,
  webhookId: string,
  filter: DeliveryFilter,
  range: DeliveryRange,
  limit: number,
): Promise<DeliveryRecord[]> {
  const { sql, values } = matching(workspaceId, webhookId, filter, range, indexFor(filter).name);
  const rows = await query(`SELECT ${columns} ${sql} ORDER BY id DESC LIMIT ?`, [...values, limit]);
  return rows.map(toRecord);
}

/**
 * Where a search by both status and type is when it has looked at `count` more deliveries; null when there are fewer.
 * No index has both, so it walks along the one that is likelier to be short.
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
  const [row] = await query(
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
    // Named, because the newest ids of all webhooks look cheap to the optimizer, and are not.
    sql: `FROM webhook_deliveries FORCE INDEX (${index}) WHERE ${given.map(([sql]) => sql).join(' AND ')}`,
    values: given.map(([, value]) => value),
  };
}

export async function findDelivery(
  workspaceId: string,
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRecord | null> {
  const [row] = await execute(
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
  const rows = await query(
    `SELECT number, attempted_at, duration_ms, response_status, response_body, error FROM webhook_attempts
     WHERE delivery_id = ? AND workspace_id = ? ORDER BY number DESC LIMIT ?`,
    [idToBytes(deliveryId), idToBytes(workspaceId), limit],
  );
  return rows.map((row) => toAttempt(row, row.number));
}

function toRecord(row: Row): DeliveryRecord {
  return {
    id: idFromBytes('delivery', row.id),
    eventId: idFromBytes('event', row.event_id),
    eventType: row.event_type,
    status: row.status,
    attempts: row.attempts,
    dueAt: row.due_at,
    isInHand: row.lease_token !== null,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    latestAttempt: row.attempted_at && toAttempt(row, row.attempts),
  };
}

function toAttempt(row: Row, number: number): AttemptRecord {
  return {
    number,
    attemptedAt: row.attempted_at,
    durationMs: row.duration_ms,
    responseStatus: row.response_status,
    responseBody: row.response_body,
    error: row.error,
  };
}
