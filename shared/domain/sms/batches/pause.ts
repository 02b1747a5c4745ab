import { fromNow, now } from '../../../common/clock.ts';
import { count } from '../../../common/metrics.ts';
import type { SmsBatchRecord } from '../../../db/sms/batches/batches.ts';
import { findBatchCounts } from '../../../db/sms/batches/counts.ts';
import { listBatchRows } from '../../../db/sms/batches/rows.ts';
import type { PausedReason } from '../../../schemas/sms/batches.ts';
import * as events from '../../events/events.ts';
import * as workspaces from '../../workspace/workspaces.ts';
import { findMeans } from './affordable.ts';
import { makeMessages } from './messages.ts';
import { advance, eventOf, goOn } from './record.ts';
import { SandboxBusy } from './render.ts';
import { isCopying, membersWithRoom } from './work/copy-lists.ts';
import { type BatchLease, type BatchProgress, changeHeld } from './work/held.ts';

/** Pauses batches that cannot go out now, and checks whether paused ones can continue. */

/** How often a paused batch checks whether its cause has ended. It must continue within a minute of that. */
const checkAgainMs = 20_000;

type Cause = { reason: PausedReason; cost: number | null; parts: number | null };

/**
 * Returns the batch as paused, and stores its event, in the current transaction. `counts`: as at the end of that
 * transaction.
 */
export async function paused(
  batch: SmsBatchRecord,
  { reason, cost, parts }: Cause,
  counts: Parameters<typeof eventOf>[1],
): Promise<SmsBatchRecord> {
  const at = now();
  const { changed, event } = eventOf(
    {
      ...advance(batch, 'paused', at),
      pausedReason: reason,
      pausedCost: cost,
      pausedParts: parts,
      dueAt: new Date(at.getTime() + checkAgainMs),
    },
    counts,
  );
  await events.record(batch.workspaceId, event);
  count('batches_paused', { reason });
  return changed;
}

export function pause(hold: BatchLease, reason: PausedReason): Promise<BatchProgress> {
  return changeHeld(hold, async (batch) => ({
    batch: await paused(
      batch,
      { reason, cost: null, parts: null },
      await findBatchCounts(batch.workspaceId, batch.id),
    ),
    isReleased: true,
  }));
}

/** Continues a paused batch if its cause has ended; otherwise the batch is checked again later. */
export async function checkAgain(hold: BatchLease, before: SmsBatchRecord): Promise<BatchProgress> {
  const stands = await isStanding(before);
  return changeHeld(hold, async (batch) => {
    if (stands) return { batch: { ...batch, dueAt: fromNow(checkAgainMs) }, isReleased: true };
    return { batch: goOn(batch, now()), isReleased: false };
  });
}

/** Returns whether the cause of the pause still exists. */
export async function isStanding(batch: SmsBatchRecord): Promise<boolean> {
  const { workspaceId, pausedReason, pausedCost, pausedParts } = batch;
  if (pausedReason === 'sending_blocked') return (await workspaces.find(workspaceId))?.sendingBlocked ?? true;
  // `pausedParts` is null where the batch reached the limit of waiting rows, and not the limit of its key.
  if (pausedReason === 'limit_reached' && pausedParts === null)
    return isCopying(batch) && (await membersWithRoom(batch)) === null;
  const means = await findMeans(batch, now());
  // A batch whose key is gone continues if it paused for another cause. Then it pauses again, because of its key.
  if (!means) return pausedReason === 'key_revoked';
  if (pausedReason === 'limit_reached') {
    const { parts } = means.room;
    return parts < (pausedParts ?? 1) && parts < (await nextNeeds(batch)).parts;
  }
  if (pausedReason !== 'insufficient_balance') return false;
  const { balance } = means;
  // A message that costs nothing needs no balance, so it does not wait for held texts and older batches.
  return balance !== null && balance < (pausedCost ?? 1) && balance < (await nextNeeds(batch)).cost;
}

/**
 * Returns the cost and parts of the message that comes next. These may be less than when the batch paused, as after a
 * fall of the price, or 0 where the recipient is suppressed by now.
 */
async function nextNeeds(batch: SmsBatchRecord): Promise<{ cost: number; parts: number }> {
  const { workspaceId, id, nextPosition: from, rowCount: to } = batch;
  const rows = await listBatchRows(workspaceId, id, { from, to, limit: 1 });
  try {
    const [next] = await makeMessages(batch, rows, now(), { givesUp: false });
    if (!next || next.reason) return { cost: 0, parts: 0 };
    return { cost: next.message.cost.gbp ?? 0, parts: next.message.parts };
  } catch (error) {
    if (!(error instanceof SandboxBusy)) throw error;
    // The needs are unknown now; the batch is checked again soon.
    return { cost: Number.POSITIVE_INFINITY, parts: Number.POSITIVE_INFINITY };
  }
}
