import { firstUuidAt, idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, changeRows, execute, query } from '../client.ts';
import { type Settlement, settlements } from './webhooks.ts';

export type { Settlement } from './webhooks.ts';

/** Settlements: changes to many deliveries of a webhook, which jobs make batch by batch. */

/** Returns the webhooks that have an open settlement, longest waiting first. */
export async function listWebhooksToSettle(limit: number): Promise<string[]> {
  const rows = await query<{ webhook_id: Buffer }[]>(
    'SELECT webhook_id, MIN(created_at) AS since FROM webhook_settlements GROUP BY webhook_id ORDER BY since LIMIT ?',
    [limit],
  );
  return rows.map((row) => idFromBytes('webhook', row.webhook_id));
}

/** Returns since when the oldest settlement has been open; null where none is. */
export async function findOldestSettlement(): Promise<Date | null> {
  const [row] = await query<{ since: Date | null }[]>(
    'SELECT MIN(created_at) AS since FROM webhook_settlements',
  );
  return row?.since ?? null;
}

export async function listSettlements(webhookId: string): Promise<Settlement[]> {
  return settlements.toRecords(
    await execute('SELECT * FROM webhook_settlements WHERE webhook_id = ? ORDER BY created_at, kind', [
      idToBytes(webhookId),
    ]),
  );
}

/** Locks the settlement, so that it is not withdrawn while a batch of it is written; null when it was withdrawn. */
export async function findSettlementForUpdate({
  webhookId,
  kind,
}: Pick<Settlement, 'webhookId' | 'kind'>): Promise<Settlement | null> {
  return settlements.toFirst(
    await execute(`SELECT * FROM webhook_settlements ${byId} WHERE webhook_id = ? AND kind = ? FOR UPDATE`, [
      idToBytes(webhookId),
      kind,
    ]),
  );
}

/**
 * Deletes a settlement that is done. A newer request of the same kind stays, because its `created_at` differs. `since`
 * cannot be compared: the driver reads a year before 100 as another year, so the value that was read equals nothing.
 */
export async function deleteSettled({ webhookId, kind, createdAt }: Settlement): Promise<void> {
  await execute('DELETE FROM webhook_settlements WHERE webhook_id = ? AND kind = ? AND created_at = ?', [
    idToBytes(webhookId),
    kind,
    createdAt,
  ]);
}

/**
 * Requests a skip of the waiting deliveries of those webhooks that are deleted or switched off. Call it in a
 * transaction: it locks the webhooks, so none is switched on again before the request can be withdrawn.
 */
export async function insertSkips(webhookIds: string[], at: Date): Promise<void> {
  // A condition on auto_disabled would leave the rows that it drops unlocked, in READ COMMITTED.
  const rows = await query<{ id: Buffer; auto_disabled: number }[]>(
    `SELECT id, auto_disabled FROM webhooks ${byId} WHERE id IN (?) ORDER BY id FOR UPDATE`,
    [webhookIds.map(idToBytes)],
  );
  const served = new Set(
    rows.filter((row) => row.auto_disabled === 0).map((row) => idFromBytes('webhook', row.id)),
  );
  for (const webhookId of webhookIds.filter((id) => !served.has(id)))
    await execute(
      `INSERT IGNORE INTO webhook_settlements (webhook_id, kind, workspace_id, since, created_at)
       SELECT webhook_id, 'skip', workspace_id, NULL, ? FROM webhook_deliveries WHERE webhook_id = ? LIMIT 1`,
      [at, idToBytes(webhookId)],
    );
}

type SettlementPage = { after: string | null; limit: number };
const byStatus = 'webhook_deliveries FORCE INDEX (webhook_deliveries_listed_by_status)';

// A test that has a job goes out whatever the state of its webhook is.
const isToBeSkipped = `status = 'pending' AND (parked = 1 OR event_type <> 'webhook.test')`;

export async function listPending(webhookId: string, { after, limit }: SettlementPage): Promise<string[]> {
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM ${byStatus} WHERE webhook_id = ? AND ${isToBeSkipped} AND id > ? ORDER BY id LIMIT ?`,
    [idToBytes(webhookId), after === null ? Buffer.alloc(0) : idToBytes(after), limit],
  );
  return rows.map((row) => idFromBytes('delivery', row.id));
}

/** Marks these deliveries as skipped, but leaves a delivery that a worker has claimed to that worker. */
export function updateSkipped(deliveryIds: string[], at: Date): Promise<number> {
  return changeRows(
    `UPDATE webhook_deliveries ${byId} SET status = 'skipped', due_at = NULL, parked = 0, completed_at = ?
     WHERE id IN (?) AND ${isToBeSkipped} AND lease_token IS NULL`,
    [at, deliveryIds.map(idToBytes)],
  );
}

/** Returns whether a worker holds a delivery of the webhook with a lease that ends in this time. */
export async function isAnyHeld(webhookId: string, until: Date): Promise<boolean> {
  const rows = await execute<{ id: Buffer }[]>(
    `SELECT id FROM webhook_deliveries FORCE INDEX (webhook_deliveries_admission)
     WHERE status = 'pending' AND parked = 0 AND webhook_id = ? AND due_at <= ?
       AND lease_token IS NOT NULL LIMIT 1`,
    [idToBytes(webhookId), until],
  );
  return rows.length > 0;
}

/**
 * How many rows one statement reads. A limit keeps the statement short where very many rows must be read and none of
 * them matches.
 */
const rowsAtOnce = 10_000;

/**
 * Returns deliveries, without tests, that were made or ended since `since` and reached this status no later than
 * `until`. No index has the time of the end, so this reads all deliveries with this status, one piece after the other.
 */
export async function listEnded(
  webhookId: string,
  status: 'failed' | 'skipped',
  { since, until }: { since: Date; until: Date },
  { after, limit }: SettlementPage,
): Promise<string[]> {
  const ended = `SELECT id FROM ${byStatus} WHERE webhook_id = ? AND status = ? AND id > ?`;
  const found: Buffer[] = [];
  let from: Buffer | undefined = after === null ? Buffer.alloc(0) : idToBytes(after);
  while (from && found.length < limit) {
    const start: (Buffer | string)[] = [idToBytes(webhookId), status, from];
    const [next] = await query<{ id: Buffer }[]>(`${ended} ORDER BY id LIMIT 1 OFFSET ?`, [
      ...start,
      rowsAtOnce,
    ]);
    const rows = await query<{ id: Buffer }[]>(
      `${ended} AND id <= ? AND (id >= ? OR completed_at >= ?) AND completed_at <= ?
         AND event_type <> 'webhook.test' ORDER BY id LIMIT ?`,
      [...start, next?.id ?? Buffer.alloc(16, 0xff), firstUuidAt(since), since, until, limit - found.length],
    );
    found.push(...rows.map(({ id }) => id));
    from = next?.id;
  }
  return found.map((id) => idFromBytes('delivery', id));
}

/** Makes these deliveries pending again: their schedule begins anew, and they wait for room in Redis. */
export async function updateRecovered(deliveryIds: string[], at: Date): Promise<void> {
  await query(
    `UPDATE webhook_deliveries ${byId} SET status = 'pending', due_at = ?, parked = 1, schedule_step = 0,
       lost_claims = 0, completed_at = NULL, restarted_at = ?
     WHERE id IN (?) AND status IN ('failed', 'skipped')`,
    [at, at, deliveryIds.map(idToBytes)],
  );
}
