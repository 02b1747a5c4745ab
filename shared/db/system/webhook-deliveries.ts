import { batcher } from '../../batcher.ts';
import { firstUuidAt, idFromBytes, idToBytes, newUuid } from '../../formats/ids.ts';
import { byId, type Changed, outsideTransaction, query, type Row, sqlTime } from '../client.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'skipped';

export type NewDelivery = {
  id: string;
  workspaceId: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  status: DeliveryStatus;
  dueAt: Date | null;
  createdAt: Date;
  requestId: string | null;
};

export async function insertDeliveries(deliveries: NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await query(
    `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, event_type, status, due_at,
      created_at, completed_at, request_id) VALUES ?`,
    [
      deliveries.map((delivery) => [
        idToBytes(delivery.id),
        idToBytes(delivery.workspaceId),
        idToBytes(delivery.webhookId),
        idToBytes(delivery.eventId),
        delivery.eventType,
        delivery.status,
        delivery.dueAt,
        delivery.createdAt,
        delivery.status === 'pending' ? null : delivery.createdAt,
        delivery.requestId === null ? null : Buffer.from(delivery.requestId),
      ]),
    ],
  );
}

export type ClaimedDelivery = {
  id: string;
  token: Buffer;
  attempts: number;
  claims: number;
  scheduleStep: number;
  createdAt: Date;
  event: { id: string; workspaceId: string; type: string; occurredAt: Date; data: string };
  /** Null when the webhook has been deleted. */
  webhook: {
    id: string;
    url: string;
    apiVersion: string | null;
    autoDisabled: boolean;
    secretVersion: number;
    secret: Buffer;
  } | null;
};
type Claim = { deliveryId: string; at: Date; until: Date };

/** Takes a delivery for this worker until the lease ends; null when it is not due or somebody else has it. */
export function claimDelivery(claim: Claim): Promise<ClaimedDelivery | null> {
  return outsideTransaction(() => claims(claim));
}

const claims = batcher<Claim, ClaimedDelivery | null>({
  maxItems: 100,
  maxInFlight: 4,
  run: async (items) => {
    const ids = items.map((item) => idToBytes(item.deliveryId));
    const { at, until } = items.at(-1)!;
    const token = newUuid(at);
    const { affectedRows } = await query<Changed>(
      `UPDATE webhook_deliveries ${byId} SET lease_token = ?, due_at = ?, parked = 0, claims = claims + 1
       WHERE id IN (?) AND status = 'pending' AND due_at <= ?`,
      [token, until, ids, at],
    );
    if (affectedRows === 0) return items.map(() => null);
    const rows = await query(
      `SELECT d.id, d.attempts, d.claims, d.schedule_step, d.created_at, d.event_id, d.workspace_id,
        e.type, e.occurred_at, e.data,
        w.id AS webhook_id, w.url, w.api_version, w.auto_disabled, w.secret_version, w.secret
       FROM webhook_deliveries d JOIN events e ON e.id = d.event_id LEFT JOIN webhooks w ON w.id = d.webhook_id
       WHERE d.id IN (?) AND d.lease_token = ?`,
      [ids, token],
    );
    const claimed = new Map(rows.map((row) => [idFromBytes('delivery', row.id), toClaimed(row, token)]));
    return items.map((item) => {
      const delivery = claimed.get(item.deliveryId) ?? null;
      // Two jobs for the same delivery in one batch: only the first may go on.
      claimed.delete(item.deliveryId);
      return delivery;
    });
  },
});

function toClaimed(row: Row, token: Buffer): ClaimedDelivery {
  return {
    id: idFromBytes('delivery', row.id),
    token,
    attempts: row.attempts,
    claims: row.claims,
    scheduleStep: row.schedule_step,
    createdAt: row.created_at,
    event: {
      id: idFromBytes('event', row.event_id),
      workspaceId: idFromBytes('workspace', row.workspace_id),
      type: row.type,
      occurredAt: row.occurred_at,
      data: row.data,
    },
    webhook: row.webhook_id && {
      id: idFromBytes('webhook', row.webhook_id),
      url: row.url,
      apiVersion: row.api_version,
      autoDisabled: row.auto_disabled === 1,
      secretVersion: row.secret_version,
      secret: row.secret,
    },
  };
}

export type Attempt = {
  attemptedAt: Date;
  durationMs: number;
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
};
export type DeliveryOutcome = {
  deliveryId: string;
  token: Buffer;
  status: DeliveryStatus;
  attempts: number;
  scheduleStep: number;
  dueAt: Date | null;
  parked: boolean;
  completedAt: Date | null;
  /** Null when nothing was sent: what was recorded of an earlier attempt stays. */
  attempt: Attempt | null;
};

/** Writes the outcome and gives the lease back; changes nothing when the lease was lost. */
export function finishDelivery(outcome: DeliveryOutcome): Promise<void> {
  return outsideTransaction(() => outcomes(outcome));
}

const outcomes = batcher<DeliveryOutcome, void>({
  maxItems: 200,
  maxInFlight: 2,
  run: async (items) => {
    await query(
      `UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
          id CHAR(32) PATH '$.id', token CHAR(32) PATH '$.token', status VARCHAR(10) PATH '$.status',
          attempts INT PATH '$.attempts', step INT PATH '$.step', due DATETIME(3) PATH '$.due',
          parked TINYINT PATH '$.parked', completed DATETIME(3) PATH '$.completed',
          attempted DATETIME(3) PATH '$.attempted', duration INT PATH '$.duration', response INT PATH '$.response',
          body VARCHAR(1024) PATH '$.body', error VARCHAR(20) PATH '$.error')) AS outcome
       STRAIGHT_JOIN webhook_deliveries d ${byId} ON d.id = UNHEX(outcome.id) AND d.lease_token = UNHEX(outcome.token)
       SET d.status = outcome.status, d.attempts = outcome.attempts, d.schedule_step = outcome.step,
         d.due_at = outcome.due, d.parked = outcome.parked, d.completed_at = outcome.completed,
         d.duration_ms = IF(outcome.attempted IS NULL, d.duration_ms, outcome.duration),
         d.response_status = IF(outcome.attempted IS NULL, d.response_status, outcome.response),
         d.response_body = IF(outcome.attempted IS NULL, d.response_body, outcome.body),
         d.error = IF(outcome.attempted IS NULL, d.error, outcome.error),
         d.attempted_at = COALESCE(outcome.attempted, d.attempted_at),
         d.lease_token = NULL`,
      [JSON.stringify(items.map(toChange))],
    );
    return items.map(() => undefined);
  },
});

function toChange(outcome: DeliveryOutcome): object {
  const { attempt } = outcome;
  return {
    id: idToBytes(outcome.deliveryId).toString('hex'),
    token: outcome.token.toString('hex'),
    status: outcome.status,
    attempts: outcome.attempts,
    step: outcome.scheduleStep,
    due: sqlTime(outcome.dueAt),
    parked: Number(outcome.parked),
    completed: sqlTime(outcome.completedAt),
    attempted: sqlTime(attempt?.attemptedAt ?? null),
    duration: attempt?.durationMs ?? null,
    response: attempt?.responseStatus ?? null,
    body: attempt?.responseBody ?? null,
    error: attempt?.error ?? null,
  };
}

export type DueDelivery = {
  id: string;
  dueAt: Date;
  attempts: number;
  claims: number;
  requestId: string | null;
};

/** Deliveries that have been due for a while: their job was lost, or their worker died. Longest due first. */
export async function listOverdueDeliveries(dueBefore: Date, limit: number): Promise<DueDelivery[]> {
  return listDue(false, dueBefore, limit);
}

/** Deliveries without a job whose time has come near. */
export async function listParkedDeliveries(dueBefore: Date, limit: number): Promise<DueDelivery[]> {
  return listDue(true, dueBefore, limit);
}

async function listDue(parked: boolean, dueBefore: Date, limit: number): Promise<DueDelivery[]> {
  const rows = await query(
    `SELECT id, due_at, attempts, claims, request_id FROM webhook_deliveries
     WHERE status = 'pending' AND parked = ? AND due_at <= ? ORDER BY due_at LIMIT ?`,
    [parked, dueBefore, limit],
  );
  return rows.map((row) => ({
    id: idFromBytes('delivery', row.id),
    dueAt: row.due_at,
    attempts: row.attempts,
    claims: row.claims,
    requestId: row.request_id?.toString() ?? null,
  }));
}

/** Marks that these have a job in Redis now. */
export async function updateDeliveriesUnparked(deliveryIds: string[]): Promise<void> {
  if (deliveryIds.length > 0)
    await query(`UPDATE webhook_deliveries ${byId} SET parked = 0 WHERE id IN (?)`, [
      deliveryIds.map(idToBytes),
    ]);
}

/** Since when the delivery that waits longest has been due; null when none is. */
export async function findOldestDueDelivery(at: Date): Promise<Date | null> {
  const [row] = await query(
    `SELECT MIN(due_at) AS due FROM webhook_deliveries
     WHERE status = 'pending' AND parked IN (0, 1) AND due_at <= ?`,
    [at],
  );
  return row?.due ?? null;
}

/** Deletes a batch of those made before then; ids carry the time. Returns how many went. */
export async function deleteDeliveriesBefore(at: Date, limit: number): Promise<number> {
  const { affectedRows } = await query<Changed>(
    'DELETE FROM webhook_deliveries WHERE id < ? ORDER BY id LIMIT ?',
    [firstUuidAt(at), limit],
  );
  return affectedRows;
}
