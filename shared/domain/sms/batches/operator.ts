import { orNotFound } from '../../../common/errors.ts';
import { transaction } from '../../../db/client.ts';
import { findSmsBatchOfAny, listUnfinishedBatches } from '../../../db/sms/batches/batches.system.ts';
import type { ShownSmsBatch } from '../../../db/sms/batches/batches.ts';
import { findBatchCounts } from '../../../db/sms/batches/counts.ts';
import type { SmsBatch } from '../../../schemas/sms/batches.ts';
import { cancel } from './cancel.ts';
import { toWire } from './record.ts';
import { resume } from './resume.ts';

export type OwnedBatch = { workspaceId: string; batch: SmsBatch };

/** Returns a batch of any workspace, for the operator. */
export async function findAny(batchId: string): Promise<OwnedBatch> {
  return owned(await recordOf(batchId));
}

/** For the operator: the batches of all workspaces that have something left to do, newest first. */
export async function listUnfinished(limit: number): Promise<OwnedBatch[]> {
  return Promise.all((await listUnfinishedBatches(limit)).map(owned));
}

export async function cancelAny(batchId: string): Promise<OwnedBatch> {
  const { workspaceId } = await recordOf(batchId);
  return { workspaceId, batch: await transaction(() => cancel({ workspaceId }, batchId)) };
}

/** Resumes a batch. A batch whose key is gone stays paused: it needs a key, and an operator has none. */
export async function resumeAny(batchId: string): Promise<OwnedBatch> {
  const { workspaceId, lineageId } = await recordOf(batchId);
  return { workspaceId, batch: await transaction(() => resume({ workspaceId, lineageId }, batchId)) };
}

async function recordOf(batchId: string): Promise<ShownSmsBatch> {
  return orNotFound(await findSmsBatchOfAny(batchId), `There is no batch ${batchId}`);
}

async function owned(record: ShownSmsBatch): Promise<OwnedBatch> {
  const { id, workspaceId } = record;
  return { workspaceId, batch: toWire(record, await findBatchCounts(workspaceId, id)) };
}
