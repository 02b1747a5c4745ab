import { now } from '../../clock.ts';
import { transaction } from '../../db/client.ts';
import * as db from '../../db/sms-batches.ts';
import { admit } from './admission.ts';

/** What may have paused batches of the workspace has changed: they look at once, oldest first. */
export async function wakePaused(workspaceId: string): Promise<void> {
  for (const { id } of await db.listPausedBatches(workspaceId)) {
    await transaction(async () => {
      const batch = await db.findSmsBatchForUpdate(workspaceId, id);
      if (batch?.state !== 'paused') return;
      const at = now();
      const due = admit({ ...batch, dueAt: at }, `-w${at.getTime()}`);
      // Whoever is looking at it at this moment may have looked too early.
      await db.updateSmsBatch(workspaceId, due, { isReleased: true });
    });
  }
}
