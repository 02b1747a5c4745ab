import { now } from '../../../../common/clock.ts';
import { transaction } from '../../../../db/client.ts';
import * as db from '../../../../db/sms/batches/batches.ts';
import { admit } from './admission.ts';

/** Wakes paused batches of the workspace, oldest first: a cause of pausing may have ended. */
export async function wakePaused(workspaceId: string): Promise<void> {
  for (const id of await db.listPausedBatchIds(workspaceId)) {
    await transaction(async () => {
      const batch = await db.findSmsBatchForUpdate(workspaceId, id);
      if (batch?.state !== 'paused') return;
      const at = now();
      const due = admit({ ...batch, dueAt: at }, `-w${at.getTime()}`);
      // The lease is ended: a worker that checks the batch at this moment may have checked too early.
      await db.updateSmsBatch(workspaceId, due, { isReleased: true });
    });
  }
}
