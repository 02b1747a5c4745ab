import { now } from '../../../../common/clock.ts';
import { afterCommit } from '../../../../db/client.ts';
import { insertEvents } from '../../../../db/events/events.system.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import { changeBatchCounts, findBatchCounts } from '../../../../db/sms/batches/counts.ts';
import { withoutErasedContacts } from '../../../../db/sms/contacts.ts';
import {
  findHasStoppableSms,
  listCancellableForUpdate,
  listIdsOfBatch,
  updateManySmsCancelled,
} from '../../../../db/sms/of-batches.ts';
import { changeWaiting } from '../../../../db/work/waiting-counts.ts';
import * as events from '../../../events/events.ts';
import * as balance from '../../balance.ts';
import { advance, eventOf } from '../../record.ts';
import { type BatchLease, type BatchProgress, changeHeld } from './held.ts';

const chunkSize = 500;

/** The bounds of the time until the next check. This time grows with the time since the cancellation. */
const [soonestMs, latestMs] = [3_000, 60_000];
const partOfWait = 0.1;

/**
 * Continues to cancel a batch: first its rows that are no messages yet, then its messages that no gateway has, in
 * chunks. A gateway may refuse a message for now, and the message is queued again. So messages are checked again until
 * no such message is left.
 */
export async function stop(hold: BatchLease, batch: SmsBatchRecord): Promise<BatchProgress> {
  if (batch.expanding) return cancelRows(hold);
  const { workspaceId, id, cancelledUpTo } = batch;
  const ids = await listIdsOfBatch(workspaceId, id, { after: cancelledUpTo, limit: chunkSize });
  if (ids.length === 0) return endPass(hold, batch);
  return changeHeld(hold, async (held) => {
    await cancelSome(workspaceId, ids);
    return { batch: { ...held, cancelledUpTo: ids.at(-1)! }, isReleased: false };
  });
}

async function endPass(hold: BatchLease, { workspaceId, id }: SmsBatchRecord): Promise<BatchProgress> {
  const { queued } = await findBatchCounts(workspaceId, id);
  const isOver = queued === 0 || !(await findHasStoppableSms(workspaceId, id));
  return changeHeld(hold, async (held) => {
    const at = now().getTime();
    // The cancellation was the last change of `updatedAt`.
    const waitMs = Math.min(latestMs, Math.max(soonestMs, (at - held.updatedAt.getTime()) * partOfWait));
    const dueAt = isOver ? null : new Date(at + waitMs);
    return { batch: { ...held, cancelledUpTo: null, dueAt }, isReleased: true };
  });
}

function cancelRows(hold: BatchLease): Promise<BatchProgress> {
  return changeHeld(hold, async (batch) => {
    // Only the holder of the lease could make messages of the rows, and that is this worker.
    const { waiting } = await findBatchCounts(batch.workspaceId, batch.id);
    if (waiting > 0) {
      await changeBatchCounts(batch.workspaceId, batch.id, now(), { waiting: -waiting, cancelled: waiting });
      await changeWaiting(batch.workspaceId, { messages: -waiting });
    }
    return { batch: { ...batch, expanding: false }, isReleased: false };
  });
}

async function cancelSome(workspaceId: string, ids: string[]): Promise<void> {
  const at = now();
  const found = await listCancellableForUpdate(workspaceId, ids);
  if (found.length === 0) return;
  const cancelled = found.map((message) => advance(message, 'cancelled', { at }));
  await updateManySmsCancelled(workspaceId, cancelled);
  const shown = await withoutErasedContacts(workspaceId, cancelled);
  await insertEvents(shown.map((message) => ({ workspaceId, event: eventOf(message) })));
  await balance.giveBackAll(workspaceId, cancelled);
  afterCommit(events.wakeRelay);
}
