import { batcher } from '../../../common/batcher.ts';
import { idToBytes } from '../../../formats/ids.ts';
import type { RecordOf } from '../../client/table.ts';
import { byId, hex, outsideTransaction, query, transaction } from '../../client.ts';
import { holdingLease } from '../../work/claim.system.ts';
import { outcomeWriter } from '../../work/outcomes.system.ts';
import { type DeliveryAttempt, deliveries, latest } from './deliveries.ts';
import { deliveryTable } from './table.system.ts';

export type DeliveryOutcome = Pick<
  RecordOf<typeof deliveries>,
  'status' | 'attempts' | 'scheduleStep' | 'dueAt' | 'parked' | 'completedAt'
> & {
  deliveryId: string;
  token: Buffer;
  /** The number of the claim that `token` belongs to. */
  claims: number;
  /** Null when nothing was sent; the record of an earlier attempt then stays. */
  attempt: DeliveryAttempt | null;
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
        ? await write(items)
        : await transaction(async () => {
            await insertEarlierAttempts(again);
            return write(items);
          });
    return finished === items.length ? items.map(() => true) : areOurs(items);
  },
});

const noAttempt = {
  attemptedAt: null,
  durationMs: null,
  responseStatus: null,
  responseBody: null,
  error: null,
};

const write = (items: DeliveryOutcome[]) =>
  writeOutcomes(
    items.map((item) => ({
      lease: { id: item.deliveryId, token: item.token },
      record: { ...(item.attempt ?? noAttempt), ...item },
    })),
  );

/** Copies the attempt that the row still holds into the history, because the row is about to be overwritten. */
async function insertEarlierAttempts(items: DeliveryOutcome[]): Promise<void> {
  const leases = items.map(({ deliveryId, token }) => ({
    id: hex(idToBytes(deliveryId)),
    token: hex(token),
  }));
  await query(
    `INSERT IGNORE INTO webhook_attempts (delivery_id, number, workspace_id, ${latest.columns})
     SELECT d.id, d.attempts, d.workspace_id, ${latest.columnsOf('d')} FROM webhook_deliveries d ${byId}
     WHERE ${holdingLease('d', leases)} AND d.attempts > 0 AND d.attempted_at IS NOT NULL`,
  );
}

const outcomeColumns = deliveries.pick(
  'status',
  'attempts',
  'scheduleStep',
  'dueAt',
  'parked',
  'completedAt',
  'attemptedAt',
  'durationMs',
  'responseStatus',
  'responseBody',
  'error',
);
const writeOutcomes = outcomeWriter(deliveryTable, outcomeColumns, {
  kept: {
    columns: ['duration_ms', 'response_status', 'response_body', 'error', 'attempted_at'],
    whereNull: 'attempted_at',
  },
});

/**
 * Returns whether each item was claimed by no other worker since; also true where the outcome was written and only the
 * answer was lost.
 */
async function areOurs(items: DeliveryOutcome[]): Promise<boolean[]> {
  const rows = await query<{ id: Buffer; claims: number }[]>(
    `SELECT id, claims FROM webhook_deliveries ${byId} WHERE id IN (?)`,
    [items.map(({ deliveryId }) => idToBytes(deliveryId))],
  );
  const claims = new Map(rows.map((row) => [row.id.toString('hex'), row.claims]));
  return items.map((item) => claims.get(hexOf(item.deliveryId)) === item.claims);
}

const hexOf = (id: string) => idToBytes(id).toString('hex');
