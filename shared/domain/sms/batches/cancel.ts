import { now } from '../../../common/clock.ts';
import { orNotFound, problem } from '../../../common/errors.ts';
import * as db from '../../../db/sms/batches/batches.ts';
import { findBatchCounts } from '../../../db/sms/batches/counts.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import type { SmsBatch } from '../../../schemas/sms/batches.ts';
import * as events from '../../events/events.ts';
import { advance, eventOf, nextStates, toWire } from './record.ts';
import { admit } from './work/admission.ts';

/** Cancels a batch at once; a job then cancels its rows, and its messages that no gateway can have. */
export async function cancel(
  { workspaceId }: Pick<Caller, 'workspaceId'>,
  batchId: string,
): Promise<SmsBatch> {
  const batch = orNotFound(await db.findSmsBatchForUpdate(workspaceId, batchId));
  if (!nextStates[batch.state].includes('cancelled'))
    throw problem('not_cancellable', { detail: `The batch is ${batch.state}, so it cannot be cancelled` });
  const at = now();
  const counts = await findBatchCounts(workspaceId, batchId);
  const cancelled = advance(batch, 'cancelled', at);
  const { changed, event } = eventOf({ ...cancelled, completedAt: at, dueAt: at, lane: 'follow' }, counts);
  // The lease ends, so a worker that still works on the batch writes nothing any more. Redis may already have a job of
  // the batch for a later time, so this job gets a name of its own.
  await db.updateSmsBatch(workspaceId, admit(changed, `-c${at.getTime()}`), { isReleased: true });
  await events.record(workspaceId, event);
  return toWire(changed, counts);
}
