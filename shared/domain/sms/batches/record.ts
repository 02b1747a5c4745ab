import type { NewEventRecord } from '../../../db/events/events.ts';
import type { ShownSmsBatch, SmsBatchRecord } from '../../../db/sms/batches/batches.ts';
import type { BatchCounts } from '../../../db/sms/batches/counts.ts';
import { moneyText } from '../../../formats/money.ts';
import { SmsBatch, type SmsBatchStatus } from '../../../schemas/sms/batches.ts';
import * as events from '../../events/events.ts';
import { wireOf } from '../../requests/wire.ts';

/** The statuses that may follow each status (API decisions §14). */
export const nextStates: Record<SmsBatchStatus, readonly SmsBatchStatus[]> = {
  scheduled: ['processing', 'cancelled'],
  processing: ['paused', 'completed', 'cancelled'],
  paused: ['processing', 'cancelled'],
  completed: [],
  cancelled: [],
};

/** Returns the batch in its next status. Throws where `nextStates` does not allow it: that is a fault of ours. */
export function advance(batch: SmsBatchRecord, state: SmsBatchStatus, at: Date): SmsBatchRecord {
  if (!nextStates[batch.state].includes(state))
    throw new Error(`A batch does not go from ${batch.state} to ${state}`);
  return {
    ...batch,
    state,
    pausedReason: null,
    pausedCost: null,
    pausedParts: null,
    // `updatedAt` never decreases, even if the clocks of two processes differ.
    updatedAt: at > batch.updatedAt ? at : batch.updatedAt,
  };
}

/**
 * Continues a paused batch. A batch that waited for a balance keeps `pausedCost` until its next messages are paid,
 * because younger batches must not be paid before it.
 */
export function goOn(batch: SmsBatchRecord, at: Date): SmsBatchRecord {
  const pausedCost = batch.pausedReason === 'insufficient_balance' ? batch.pausedCost : null;
  return { ...advance(batch, 'processing', at), pausedCost };
}

export function toWire(batch: ShownSmsBatch, counts: BatchCounts): SmsBatch {
  const { waiting, queued, sent, delivered, failed, cancelled } = counts;
  const total = waiting + queued + sent + delivered + failed + cancelled;
  return wireOf(SmsBatch, {
    ...batch,
    status: batch.state,
    counts: { total, waiting, queued, held: 0, sent, delivered, failed, cancelled },
    parts: counts.parts,
    cost: { gbp: moneyText(counts.costGbp), eur: moneyText(counts.costEur) },
    expanding: batch.expanding && batch.state !== 'cancelled',
    completedAt: batch.state === 'completed' ? batch.completedAt : null,
  });
}

/** Makes the event of the batch's new status. The caller must store the event together with `changed`. */
export function eventOf(
  batch: SmsBatchRecord,
  counts: BatchCounts,
): { changed: SmsBatchRecord; event: NewEventRecord } {
  const changed = { ...batch, eventSeq: batch.eventSeq + 1 };
  const record = { id: batch.id, seq: changed.eventSeq, data: toWire(changed, counts) };
  const type = `batch.${batch.state as 'paused' | 'cancelled' | 'completed'}` as const;
  return { changed, event: events.make(type, record, batch.updatedAt, batch.requestId) };
}
