import { fromNow } from '../../../../common/clock.ts';
import { transaction } from '../../../../db/client.ts';
import { findBatchHeldForUpdate } from '../../../../db/sms/batches/batches.system.ts';
import { type SmsBatchRecord, updateSmsBatch } from '../../../../db/sms/batches/batches.ts';
import { admit } from './admission.ts';

/** A worker's lease of a batch. */
export type BatchLease = { batchId: string; token: Buffer };
/** The batch after a step, if the worker still holds the lease; null if it has released or lost it. */
export type BatchProgress = SmsBatchRecord | null;

/** A step takes far less time than this. After it, another worker continues the batch of a worker that has died. */
export const leaseMs = 20_000;

export function leaseEnd(): Date {
  return fromNow(leaseMs);
}

/**
 * Changes the current batch in a transaction, or does nothing where this worker has lost its lease. Locks are taken in
 * this order: the batch, then messages, the balance, the key's usage, and counts at the commit.
 */
export async function changeHeld(
  { batchId, token }: BatchLease,
  change: (batch: SmsBatchRecord) => Promise<{ batch: SmsBatchRecord; isReleased: boolean }>,
  { isFault = false }: { isFault?: boolean } = {},
): Promise<BatchProgress> {
  return transaction(async () => {
    const before = await findBatchHeldForUpdate({ id: batchId, token });
    if (!before) return null;
    const { batch, isReleased } = await change(before);
    // While a worker has the lease, `dueAt` is the end of the lease.
    const after = isReleased
      ? admit({ ...batch, retries: isFault ? batch.retries : batch.claims })
      : { ...batch, dueAt: leaseEnd(), parked: false };
    await updateSmsBatch(batch.workspaceId, after, { isReleased });
    return isReleased ? null : after;
  });
}

/** Releases the lease; the work continues at `dueAt`. `isFault`: counts as if the batch had killed the worker. */
export async function release(hold: BatchLease, dueAt: Date, { isFault = false } = {}): Promise<void> {
  await changeHeld(hold, async (batch) => ({ batch: { ...batch, dueAt }, isReleased: true }), { isFault });
}
