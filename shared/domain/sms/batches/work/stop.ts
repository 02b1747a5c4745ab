import { now } from '../../../../common/clock.ts';
import { afterCommit } from '../../../../db/client.ts';
import { insertEvents } from '../../../../db/events/events.system.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import { changeBatchCounts, findBatchCounts } from '../../../../db/sms/batches/counts.ts';
import {
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

/** Goes on with cancelling: first the rows that are no message yet, then messages that nobody has claimed, in chunks. */
export async function stop(hold: BatchLease, batch: SmsBatchRecord): Promise<BatchProgress> {
  if (batch.expanding) return cancelRows(hold);
  const { workspaceId, id, cancelledUpTo } = batch;
  const ids = await listIdsOfBatch(workspaceId, id, { after: cancelledUpTo, limit: chunkSize });
  return changeHeld(hold, async (held) => {
    if (ids.length === 0) return { batch: { ...held, dueAt: null }, isReleased: true };
    await cancelSome(workspaceId, ids);
    return { batch: { ...held, cancelledUpTo: ids.at(-1)! }, isReleased: false };
  });
}

function cancelRows(hold: BatchLease): Promise<BatchProgress> {
  return changeHeld(hold, async (batch) => {
    // Nobody makes messages of them any more: whoever would has to have the batch in hand.
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
  await insertEvents(cancelled.map((message) => ({ workspaceId, event: eventOf(message) })));
  await balance.giveBackAll(workspaceId, cancelled);
  afterCommit(events.wakeRelay);
}
