import { now } from '../../../../common/clock.ts';
import { transaction } from '../../../../db/client.ts';
import { findBatchHeldForUpdate } from '../../../../db/sms/batches/batches.system.ts';
import { type SmsBatchRecord, updateSmsBatch } from '../../../../db/sms/batches/batches.ts';
import { admit } from './admission.ts';

/** A batch that this worker has in hand. */
export type BatchLease = { batchId: string; token: Buffer };
/** Where a step has brought the batch: it is still in hand and goes on, or it is not. */
export type BatchProgress = SmsBatchRecord | null;

/** Far more than a step takes; a batch whose worker has died goes on after it. */
export const leaseMs = 20_000;

export function leaseEnd(): Date {
  return new Date(now().getTime() + leaseMs);
}

/**
 * Changes a batch as it is now, in a transaction; nothing, where it is no longer this worker's. The batch comes first of
 * all that is locked, then messages, the balance, the key's usage, and counts at the commit.
 */
export async function changeHeld(
  { batchId, token }: BatchLease,
  change: (batch: SmsBatchRecord) => Promise<{ batch: SmsBatchRecord; isReleased: boolean }>,
  { isFault = false }: { isFault?: boolean } = {},
): Promise<BatchProgress> {
  return transaction(async () => {
    const before = await findBatchHeldForUpdate(batchId, token);
    if (!before) return null;
    const { batch, isReleased } = await change(before);
    // As long as somebody has it in hand, it is due at the end of the lease.
    const after = isReleased
      ? admit({ ...batch, retries: isFault ? batch.retries : batch.claims })
      : { ...batch, dueAt: leaseEnd(), parked: false };
    await updateSmsBatch(batch.workspaceId, after, { isReleased });
    return isReleased ? null : after;
  });
}

/** Gives the batch back, to be gone on with then. `isFault`: it counts as if the worker had died of it. */
export async function release(hold: BatchLease, dueAt: Date, { isFault = false } = {}): Promise<void> {
  await changeHeld(hold, async (batch) => ({ batch: { ...batch, dueAt }, isReleased: true }), { isFault });
}
