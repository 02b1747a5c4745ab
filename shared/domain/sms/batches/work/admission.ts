import { afterCommit } from '../../../../db/client.ts';
import { batchWork } from '../../../../db/sms/batches/batches.system.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import { expandBatch } from '../../../../jobs/expand-batch.ts';
import { enqueue, isNear } from '../../../../queue/queue.ts';
import { jobName } from '../../../../work/job-name.ts';
import { messageAdmission } from '../../../work/message-admission.ts';

/**
 * The most jobs of one workspace and lane in Redis; its other batches wait in MySQL. The number is so small that none
 * of its batches waits for long.
 */
export const jobsPerWorkspace = 8;

/** Which batches have a job in Redis, and which wait in their rows. */
export const { tryAdmit, checkSoon, refill, sweep } = messageAdmission({
  messages: batchWork,
  job: expandBatch,
  payloadOf: ({ id, workspaceId }) => ({ batchId: id, workspaceId }),
  window: () => jobsPerWorkspace,
  mostAtOnce: jobsPerWorkspace,
  // Batches of a workspace that may not send get their jobs as well, without delay: they have to be paused.
  giveUpMinutes: { expand: 0, follow: 0 },
  metric: { name: 'batches_admitted', label: 'lane' },
});

/**
 * Returns the batch as it is to be stored. Where there is room for its job, the end of the transaction makes the job;
 * otherwise the batch is parked. `suffix` names a further job, where the batch is now due sooner than the job that it
 * may have.
 */
export function admit(batch: SmsBatchRecord, suffix = ''): SmsBatchRecord {
  const { id, workspaceId, lane, requestId, dueAt } = batch;
  if (!dueAt) return batch;
  if (!isNear(dueAt)) return { ...batch, parked: true };
  const permit = tryAdmit(lane, workspaceId, dueAt);
  if (permit.isGranted) {
    enqueue(
      expandBatch,
      { batchId: id, workspaceId },
      { lane, id: jobName(batch, suffix), at: dueAt, requestId, priority: permit.rank },
    );
    afterCommit(permit.committed);
  } else afterCommit(() => checkSoon(lane, workspaceId));
  return { ...batch, parked: !permit.isGranted };
}
