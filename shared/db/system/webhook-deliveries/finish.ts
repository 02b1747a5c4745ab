import { batcher } from '../../../batcher.ts';
import { idToBytes } from '../../../formats/ids.ts';
import { fitting } from '../../client/outside-text.ts';
import {
  byId,
  type Changed,
  execute,
  outsideTransaction,
  query,
  sqlTime,
  transaction,
} from '../../client.ts';
import type { DeliveryStatus } from './insert.ts';

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
  /** Of the claim that the token is of. */
  claims: number;
  status: DeliveryStatus;
  attempts: number;
  scheduleStep: number;
  dueAt: Date | null;
  parked: boolean;
  completedAt: Date | null;
  /** Null when nothing was sent: what was recorded of an earlier attempt stays. */
  attempt: Attempt | null;
};

/** Writes the outcome and gives the lease back; false, changing nothing, when the lease was lost. */
export function finishDelivery(outcome: DeliveryOutcome): Promise<boolean> {
  return outsideTransaction(() => outcomes(outcome));
}

const outcomes = batcher<DeliveryOutcome, boolean>({
  maxItems: 200,
  maxInFlight: 1,
  run: async (items) => {
    const again = items.filter(({ attempt, attempts }) => attempt && attempts > 1);
    // Most deliveries are attempted once, and have no history to move.
    const finished =
      again.length === 0
        ? await updateFinished(items)
        : await transaction(async () => {
            await insertEarlierAttempts(again);
            return updateFinished(items);
          });
    return finished === items.length ? items.map(() => true) : areOurs(items);
  },
});

/** Keeps what the row still says of the attempt before; it is about to be overwritten. */
async function insertEarlierAttempts(items: DeliveryOutcome[]): Promise<void> {
  await execute(
    `INSERT IGNORE INTO webhook_attempts (delivery_id, number, workspace_id, attempted_at, duration_ms, response_status,
       response_body, error)
     SELECT d.id, d.attempts, d.workspace_id, d.attempted_at, d.duration_ms, d.response_status, d.response_body, d.error
     FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) PATH '$.id', token CHAR(32) PATH '$.token')) AS outcome
     STRAIGHT_JOIN webhook_deliveries d ${byId} ON d.id = UNHEX(outcome.id) AND d.lease_token = UNHEX(outcome.token)
     WHERE d.attempts > 0 AND d.attempted_at IS NOT NULL`,
    [
      JSON.stringify(
        items.map(({ deliveryId, token }) => ({ id: hexOf(deliveryId), token: token.toString('hex') })),
      ),
    ],
  );
}

// Prepared, as nothing in the JSON is escaped then; in a text that takes longer than all the rest of it.
async function updateFinished(items: DeliveryOutcome[]): Promise<number> {
  const { affectedRows } = await execute<Changed>(
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
  return affectedRows;
}

/** Which of these nobody has claimed since: also of those whose outcome was written, though the answer was lost. */
async function areOurs(items: DeliveryOutcome[]): Promise<boolean[]> {
  const rows = await query(`SELECT id, claims FROM webhook_deliveries ${byId} WHERE id IN (?)`, [
    items.map(({ deliveryId }) => idToBytes(deliveryId)),
  ]);
  const claims = new Map(rows.map((row) => [row.id.toString('hex'), row.claims]));
  return items.map((item) => claims.get(hexOf(item.deliveryId)) === item.claims);
}

const hexOf = (id: string) => idToBytes(id).toString('hex');

function toChange(outcome: DeliveryOutcome): object {
  const { attempt } = outcome;
  return {
    id: hexOf(outcome.deliveryId),
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
    body: fitting('webhook_deliveries.response_body', attempt?.responseBody ?? null),
    error: fitting('webhook_deliveries.error', attempt?.error ?? null),
  };
}
