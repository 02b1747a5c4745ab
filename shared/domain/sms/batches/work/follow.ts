import { now } from '../../../../common/clock.ts';
import { count } from '../../../../common/metrics.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import { type BatchCounts, findBatchCounts } from '../../../../db/sms/batches/counts.ts';
import * as events from '../../../events/events.ts';
import { advance, eventOf } from '../record.ts';
import { type BatchLease, type BatchProgress, changeHeld } from './held.ts';

const hourMs = 3_600_000;
/** A text without a receipt for this long counts as finished. */
const unreportedForMs = 72 * hourMs;
const [soonestMs, latestMs] = [1_000, 60_000];
/**
 * The wait before the next check, as a part of the time since the last change: a batch that changes rarely is checked
 * rarely.
 */
const partOfQuiet = 0.1;

/** Completes a batch if all its messages have a final status. Otherwise sets the time of the next check. */
export async function follow(hold: BatchLease): Promise<BatchProgress> {
  return changeHeld(hold, async (batch) => {
    const at = now();
    const counts = await findBatchCounts(batch.workspaceId, batch.id);
    if (isFinished(counts, at)) {
      const completed = { ...advance(batch, 'completed', at), completedAt: at, dueAt: null };
      const { changed, event } = eventOf(completed, counts);
      await events.record(batch.workspaceId, event);
      count('batches_completed');
      return { batch: changed, isReleased: true };
    }
    return { batch: { ...batch, dueAt: nextCheckAt(batch, counts, at) }, isReleased: true };
  });
}

function isFinished({ waiting, queued, sent, sentAt }: BatchCounts, at: Date): boolean {
  if (waiting + queued > 0) return false;
  return sent === 0 || (sentAt !== null && at.getTime() >= sentAt.getTime() + unreportedForMs);
}

function nextCheckAt(batch: SmsBatchRecord, { changedAt, sentAt, queued }: BatchCounts, at: Date): Date {
  const quietMs = at.getTime() - (changedAt ?? batch.startedAt ?? batch.createdAt).getTime();
  const next = at.getTime() + Math.min(latestMs, Math.max(soonestMs, quietMs * partOfQuiet));
  const end = queued === 0 && sentAt ? sentAt.getTime() + unreportedForMs : Number.POSITIVE_INFINITY;
  return new Date(Math.max(at.getTime() + 1, Math.min(next, end)));
}
