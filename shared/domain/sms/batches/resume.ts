import { now } from '../../../common/clock.ts';
import { orNotFound, problem } from '../../../common/errors.ts';
import * as db from '../../../db/sms/batches/batches.ts';
import { findBatchCounts } from '../../../db/sms/batches/counts.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import type { SmsBatch } from '../../../schemas/sms/batches.ts';
import * as keyUsage from '../../api-keys/usage.ts';
import { isStanding } from './pause.ts';
import { goOn, toWire } from './record.ts';
import { admit } from './work/admission.ts';

/**
 * Resumes a paused batch if the cause of its pause has ended. Otherwise the batch stays paused. A batch whose key is
 * gone counts against the caller's key from now on.
 */
export async function resume(
  { workspaceId, lineageId }: Pick<Caller, 'workspaceId' | 'lineageId'>,
  batchId: string,
): Promise<SmsBatch> {
  const found = orNotFound(await db.findSmsBatchForUpdate(workspaceId, batchId));
  if (found.state !== 'paused')
    throw problem('not_paused', { detail: `The batch is ${found.state}, so it cannot be resumed` });
  const at = now();
  const hasKey = (await keyUsage.findRoom(workspaceId, found.lineageId, at)) !== null;
  const batch = hasKey ? found : { ...found, lineageId };
  const counts = await findBatchCounts(workspaceId, batchId);
  if (await isStanding(batch)) {
    // With the caller's key, the platform resumes the batch once the cause of its pause has ended.
    if (!hasKey) await db.updateSmsBatch(workspaceId, batch, { isReleased: false });
    return toWire(batch, counts);
  }
  const resumed = { ...goOn(batch, at), dueAt: at };
  await db.updateSmsBatch(workspaceId, admit(resumed, `-r${at.getTime()}`), { isReleased: true });
  return toWire(resumed, counts);
}
