import { batchTable } from '../../../../db/sms/batches/batches.system.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import { expandBatch } from '../../../../jobs/expand-batch.ts';
import { isNear } from '../../../../queue/queue.ts';
import { messageAdmission } from '../../../work/message-admission.ts';

/**
 * The most jobs of one workspace and lane in Redis; its other batches wait in MySQL. The number is so small that none
 * of its batches waits for long.
 */
const jobsPerWorkspace = 8;

/** Decides which batches have a job in Redis and which wait as rows. */
const admission = messageAdmission({
  name: 'sms_batch',
  // Batches that follow their messages only check whether these have a final status.
  metricOf: (lane) => (lane === 'expand' ? 'sms_batch' : null),
  table: batchTable,
  job: expandBatch,
  payloadOf: ({ id, workspaceId }) => ({ batchId: id, workspaceId }),
  window: () => jobsPerWorkspace,
  mostAtOnce: jobsPerWorkspace,
  metric: { admitted: 'batches_admitted', label: 'lane' },
});
export const { turns, kind } = admission;

/**
 * Returns the batch as it is to be stored. If there is room, its job is made at the end of the transaction; otherwise
 * the batch is parked. `suffix` names a second job, for a batch that is now due earlier than its first job.
 */
export function admit(batch: SmsBatchRecord, suffix = ''): SmsBatchRecord {
  if (!batch.dueAt) return batch;
  return { ...batch, parked: !isNear(batch.dueAt) || !admission.admit(batch.lane, batch, suffix) };
}
